package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// inRange sets bit i of dst where src[i]-lo ≤ span, unsigned and wrapping: one
// kernel for every comparison of signed and unsigned kinds.
func inRange(bits int) {
	width := bits / 8
	k := begin(fmt.Sprintf("inRange%dAVX2", bits),
		fmt.Sprintf("dst *uint64, src *uint%d, n int, lo, span uint%d", bits, bits),
		"sets bit i of dst where src[i]-lo ≤ span.", false)
	src, dst := pointer("src"), pointer("dst")
	if bits == 64 {
		range64(k, src, dst)
		return
	}
	lo, span := broadcast("lo", bits), broadcast("span", bits)
	load := func(u int) reg.VecVirtual {
		x, y := YMM(), YMM()
		VMOVDQU(k.at(src, width, 32*u), x)
		switch bits {
		case 8:
			VPSUBB(lo, x, x)
			VPMINUB(span, x, y)
			VPCMPEQB(x, y, y)
		case 16:
			VPSUBW(lo, x, x)
			VPMINUW(span, x, y)
			VPCMPEQW(x, y, y)
		case 32:
			VPSUBD(lo, x, x)
			VPMINUD(span, x, y)
			VPCMPEQD(x, y, y)
		}
		return y
	}
	var order reg.VecVirtual
	if bits == 32 {
		order = constant("order32", dwords(0, 4, 1, 5, 2, 6, 3, 7))
	}
	k.loop(func() {
		k.prefetch(src, width)
		for h := range 2 { // 32 values each
			var v reg.VecVirtual
			switch bits {
			case 8:
				v = load(h)
			case 16:
				a, b := load(2*h), load(2*h+1)
				VPACKSSWB(b, a, a)
				VPERMQ(U8(0xd8), a, a)
				v = a
			case 32:
				v = pack4(load(4*h), load(4*h+1), load(4*h+2), load(4*h+3))
				VPERMD(v, order, v)
			}
			emit(v, dst, 4*h, false)
		}
		ADDQ(U8(8), dst)
	})
	VZEROUPPER()
	RET()
}

// pack4 narrows four vectors of 32-bit masks to one of bytes, lane by lane.
func pack4(a, b, c, d reg.VecVirtual) reg.VecVirtual {
	VPACKSSDW(b, a, a)
	VPACKSSDW(d, c, c)
	VPACKSSWB(c, a, a)
	return a
}

// emit stores a bit for each byte of v.
func emit(v reg.VecVirtual, dst reg.Register, disp int, invert bool) {
	g := GP32()
	VPMOVMSKB(v, g)
	if invert {
		NOTL(g)
	}
	MOVL(g, Mem{Base: dst, Disp: disp})
}

// range64 compares signed, for want of an unsigned compare: both sides are
// shifted by 2^63, and what lies outside is found.
func range64(k *kernel, src, dst reg.Register) {
	var top, lo, span = YMM(), broadcast("lo", 64), broadcast("span", 64)
	VPCMPEQQ(top, top, top)
	VPSLLQ(U8(63), top, top)
	VPXOR(top, lo, lo) // x - (lo ^ 2^63) = (x - lo) ^ 2^63
	VPXOR(top, span, span)
	order := constant("order32", dwords(0, 4, 1, 5, 2, 6, 3, 7))
	var b [32]byte
	for i := range b {
		b[i] = byte(i&8) | [8]byte{0, 1, 4, 5, 2, 3, 6, 7}[i%8]
	}
	pairs := constant("pairs64", b)
	load := func(u int) reg.VecVirtual {
		x := YMM()
		VMOVDQU(k.at(src, 8, 32*u), x)
		VPSUBQ(lo, x, x)
		VPCMPGTQ(span, x, x)
		return x
	}
	two := func(u int) reg.VecVirtual { // the masks of 8 values, as 32-bit lanes
		a, b := load(u), load(u+1)
		VSHUFPS(U8(0x88), b, a, a)
		return a
	}
	k.loop(func() {
		k.prefetch(src, 8)
		for h := range 2 {
			u := 8 * h
			v := pack4(two(u), two(u+2), two(u+4), two(u+6))
			VPERMD(v, order, v)
			VPSHUFB(pairs, v, v)
			emit(v, dst, 4*h, true)
		}
		ADDQ(U8(8), dst)
	})
	VZEROUPPER()
	RET()
}
