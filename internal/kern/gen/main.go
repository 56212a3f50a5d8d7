// Command gen writes the AVX2 kernels of package kern, and their Go stubs.
//
//	go run . -out ../kern_amd64.s -stubs ../stubs_amd64.go -pkg kern
//
// It is a module of its own, so that the engine does not need avo to build.
//
// All kernels handle n values, n a multiple of 64, 64 in each turn of the
// loop. They may read at most those n values, but they prefetch 4 KiB ahead,
// which never faults. Results that need a last step over lanes go to out, for
// Go to finish.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ahead is how far ahead of the load a stream is prefetched, in bytes.
const ahead = 4096

// step is the number of values in a turn of the loop: one word of a mask.
const step = 64

// A kernel is what the loops share: the counter and the streams.
type kernel struct {
	i, n reg.GPVirtual
	mask reg.GPVirtual // nil where every value counts
}

// begin opens a function and loads the loop's registers.
func begin(name, args, doc string, masked bool) *kernel {
	TEXT(name, NOSPLIT, "func("+args+")")
	Pragma("noescape")
	Doc(name + " " + doc)
	k := &kernel{n: Load(Param("n"), GP64()).(reg.GPVirtual), i: GP64()}
	if masked {
		k.mask = Load(Param("mask"), GP64()).(reg.GPVirtual)
	}
	XORQ(k.i, k.i)
	return k
}

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// loop runs body for each 64 values, but not where their mask is all zeros.
func (k *kernel) loop(body func()) {
	Label("loop")
	CMPQ(k.i, k.n)
	JGE(LabelRef("done"))
	if k.mask != nil {
		w := GP64()
		MOVQ(Mem{Base: k.mask}, w)
		TESTQ(w, w)
		JZ(LabelRef("next"))
	}
	body()
	if k.mask != nil {
		Label("next")
		ADDQ(U8(step/8), k.mask)
	}
	ADDQ(U8(step), k.i)
	JMP(LabelRef("loop"))
	Label("done")
}

// at is the place of byte disp behind value i of a stream of width bytes.
func (k *kernel) at(base reg.Register, width, disp int) Mem {
	return Mem{Base: base, Index: k.i, Scale: uint8(width), Disp: disp}
}

// prefetch asks for the lines that this turn's loads will want 4 KiB later.
func (k *kernel) prefetch(base reg.Register, width int) {
	for o := 0; o < step*width; o += 64 {
		PREFETCHT0(k.at(base, width, ahead+o))
	}
}

func zero() reg.VecVirtual {
	v := YMM()
	VPXOR(v, v, v)
	return v
}

func zeros(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = zero()
	}
	return v
}

// broadcast fills every lane of a vector with a parameter.
func broadcast(name string, bits int) reg.VecVirtual {
	x, v := XMM(), YMM()
	switch bits {
	case 8:
		g := Load(Param(name), GP32()) // zero-extended
		VMOVD(g, x)
		VPBROADCASTB(x, v)
	case 16:
		g := Load(Param(name), GP32())
		VMOVD(g, x)
		VPBROADCASTW(x, v)
	case 32:
		g := Load(Param(name), GP32())
		VMOVD(g, x)
		VPBROADCASTD(x, v)
	case 64:
		g := Load(Param(name), GP64())
		VMOVQ(g, x)
		VPBROADCASTQ(x, v)
	}
	return v
}

// constant puts 32 bytes into a read-only symbol and loads them.
func constant(name string, b [32]byte) reg.VecVirtual {
	m := symbol(name, b)
	v := YMM()
	VMOVDQU(m, v)
	return v
}

var symbols = map[string]Mem{}

func symbol(name string, b [32]byte) Mem {
	if m, ok := symbols[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 32; i += 8 {
		var q uint64
		for j := range 8 {
			q |= uint64(b[i+j]) << (8 * j)
		}
		DATA(i, U64(q))
	}
	symbols[name] = m
	return m
}

// dwords lays out eight 32-bit numbers.
func dwords(d ...uint32) (b [32]byte) {
	for i, x := range d {
		for j := range 4 {
			b[4*i+j] = byte(x >> (8 * j))
		}
	}
	return b
}

func store(vs ...reg.VecVirtual) {
	out := pointer("out")
	for i, v := range vs {
		VMOVDQU(v, Mem{Base: out, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("!purego")
	for _, bits := range []int{8, 16, 32, 64} {
		inRange(bits)
	}
	for _, masked := range []bool{false, true} {
		for _, bits := range []int{8, 16, 32, 64} {
			sum(bits, masked)
			minMax(bits, masked)
		}
		for _, bits := range []int{32, 64} {
			dotSum(bits, masked)
		}
	}
	tally(false)
	tally(true)
	Generate()
}

func name(base string, bits int, masked bool) string {
	if masked {
		base += "Masked"
	}
	return fmt.Sprintf("%s%dAVX2", base, bits)
}

func maskArg(masked bool) string {
	if masked {
		return "mask *uint64, "
	}
	return ""
}

// sumTree adds accumulators of 64-bit lanes into the first of them.
func sumTree(v []reg.VecVirtual) reg.VecVirtual {
	for _, w := range v[1:] {
		VPADDQ(w, v[0], v[0])
	}
	return v[0]
}
