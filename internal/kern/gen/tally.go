package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The offsets of Cell and Candle.
const (
	offQ    = 0 // with the sum of products behind it
	offN    = 16
	offHigh = 32 // with what is the opposite of the low behind it
	offLow  = 40
	offOpen = 48
	offLast = 56
)

// tally adds four records a turn to the cells of their keys. Quantity and
// product go into their sums with one store, and so do the high and the low.
func tally(candles bool) {
	name, shift := "tallyCells", 5
	if candles {
		name, shift = "tallyCandles", 6
	}
	TEXT(name+"AVX2", NOSPLIT, "func(tab *uint64, keys *uint16, p, q *int32, n int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%sAVX2 adds n records to the cells of their keys; n is a multiple of 4.", name))
	k := &kernel{n: Load(Param("n"), GP64()).(reg.GPVirtual), i: GP64()}
	tab, keys, p, q := pointer("tab"), pointer("keys"), pointer("p"), pointer("q")
	XORQ(k.i, k.i)
	var ones reg.VecVirtual
	if candles {
		ones = YMM()
		VPCMPEQD(ones, ones, ones)
	}
	Label("loop")
	CMPQ(k.i, k.n)
	JGE(LabelRef("done"))
	PREFETCHT0(k.at(keys, 2, ahead))
	PREFETCHT0(k.at(p, 4, ahead))
	PREFETCHT0(k.at(q, 4, ahead))
	x, y, xy := YMM(), YMM(), YMM()
	VPMOVSXDQ(k.at(p, 4, 0), x)
	VPMOVSXDQ(k.at(q, 4, 0), y)
	VPMULDQ(x, y, xy)
	sums := pairs(y, xy)
	var hl [4]reg.VecVirtual
	if candles {
		nx := YMM()
		VPXOR(ones, x, nx)
		hl = pairs(x, nx)
	}
	for r := range 4 {
		c, s := GP64(), XMM()
		MOVWQZX(k.at(keys, 2, 2*r), c)
		SHLQ(U8(shift), c)
		ADDQ(tab, c)
		if candles {
			px, skip := GP64(), fmt.Sprintf("known%d", r)
			MOVLQSX(k.at(p, 4, 4*r), px)
			CMPQ(Mem{Base: c, Disp: offN}, Imm(0))
			JNE(LabelRef(skip))
			MOVQ(px, Mem{Base: c, Disp: offOpen})
			VMOVDQU(hl[r], Mem{Base: c, Disp: offHigh})
			Label(skip)
			was, more := XMM(), XMM()
			VMOVDQU(Mem{Base: c, Disp: offHigh}, was)
			VPCMPGTQ(was, hl[r], more) // hl > was
			VPBLENDVB(more, hl[r], was, was)
			VMOVDQU(was, Mem{Base: c, Disp: offHigh})
			MOVQ(px, Mem{Base: c, Disp: offLast})
		}
		VPADDQ(Mem{Base: c, Disp: offQ}, sums[r], s)
		VMOVDQU(s, Mem{Base: c, Disp: offQ})
		INCQ(Mem{Base: c, Disp: offN})
	}
	ADDQ(U8(4), k.i)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// pairs returns the four pairs (a[i], b[i]) of 64-bit lanes.
func pairs(a, b reg.VecVirtual) (out [4]reg.VecVirtual) {
	even, odd := YMM(), YMM()
	VPUNPCKLQDQ(b, a, even)
	VPUNPCKHQDQ(b, a, odd)
	for i, v := range []reg.VecVirtual{even, odd} {
		out[i] = v.AsX().(reg.VecVirtual)
		hi := XMM()
		VEXTRACTI128(U8(1), v, hi)
		out[i+2] = hi
	}
	return out
}
