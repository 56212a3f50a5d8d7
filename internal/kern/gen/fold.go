package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sum adds src[i]^flip: as unsigned numbers for 8 and 32 bits, as signed ones
// for 16, wrapping for 64 (where there is no flip). out gets four 64-bit lanes;
// for 16 bits eight 32-bit lanes, which hold the sums of 2^18 values.
func sum(bits int, masked bool) {
	width := bits / 8
	flip := fmt.Sprintf(", flip uint%d", bits)
	if bits == 64 {
		flip = ""
	}
	k := begin(name("sum", bits, masked),
		fmt.Sprintf("src *uint%d, %sn int%s, out *[4]uint64", bits, maskArg(masked), flip),
		"adds up src[i]^flip, lane by lane.", masked)
	src := pointer("src")
	var flipped, aux reg.VecVirtual
	if bits != 64 {
		flipped = broadcast("flip", bits)
	}
	switch bits {
	case 8:
		aux = zero()
	case 16:
		aux = YMM() // ones
		VPCMPEQW(aux, aux, aux)
		VPSRLW(U8(15), aux, aux)
	case 32:
		aux = YMM() // the low halves
		VPCMPEQQ(aux, aux, aux)
		VPSRLQ(U8(32), aux, aux)
	}
	l, acc := newLanes(k, bits), zeros(4)
	if bits == 8 {
		acc = acc[:2]
	}
	k.loop(func() {
		k.prefetch(src, width)
		for u := range step * width / 32 {
			x, a := YMM(), acc[u%len(acc)]
			VMOVDQU(k.at(src, width, 32*u), x)
			if bits != 64 {
				VPXOR(flipped, x, x)
			}
			if masked {
				VPAND(l.of(u), x, x)
			}
			switch bits {
			case 8:
				VPSADBW(aux, x, x)
				VPADDQ(x, a, a)
			case 16:
				VPMADDWD(aux, x, x)
				VPADDD(x, a, a)
			case 32:
				y := YMM()
				VPAND(aux, x, y)
				VPSRLQ(U8(32), x, x)
				VPADDQ(y, a, a)
				b := acc[(u+1)%len(acc)]
				VPADDQ(x, b, b)
			case 64:
				VPADDQ(x, a, a)
			}
		}
	})
	if bits == 16 {
		for _, w := range acc[1:] {
			VPADDD(w, acc[0], acc[0])
		}
		store(acc[0])
		return
	}
	store(sumTree(acc))
}

// minMax finds the smallest and the largest src[i]^flip, as signed numbers. out
// gets a vector of each. Masked lanes count as the other end of the kind.
func minMax(bits int, masked bool) {
	width := bits / 8
	k := begin(name("minMax", bits, masked),
		fmt.Sprintf("src *uint%d, %sn int, flip uint%d, out *[8]uint64", bits, maskArg(masked), bits),
		"finds the smallest and the largest src[i]^flip, signed, lane by lane.", masked)
	src := pointer("src")
	flip := broadcast("flip", bits)
	lo, hi := YMM(), YMM()
	VMOVDQU(symbol(fmt.Sprintf("largest%d", bits), extreme(bits, false)), lo)
	VMOVDQU(symbol(fmt.Sprintf("smallest%d", bits), extreme(bits, true)), hi)
	l := newLanes(k, bits)
	k.loop(func() {
		k.prefetch(src, width)
		for u := range step * width / 32 {
			x, y := YMM(), YMM()
			VMOVDQU(k.at(src, width, 32*u), x)
			VPXOR(flip, x, x)
			y = x
			if masked {
				m := l.of(u)
				y = YMM()
				VPBLENDVB(m, x, hi, y)
				VPBLENDVB(m, x, lo, x)
			}
			switch bits {
			case 8:
				VPMINSB(x, lo, lo)
				VPMAXSB(y, hi, hi)
			case 16:
				VPMINSW(x, lo, lo)
				VPMAXSW(y, hi, hi)
			case 32:
				VPMINSD(x, lo, lo)
				VPMAXSD(y, hi, hi)
			case 64:
				c, d := YMM(), YMM()
				VPCMPGTQ(x, lo, c) // lo > x
				VPBLENDVB(c, x, lo, lo)
				VPCMPGTQ(hi, y, d) // y > hi
				VPBLENDVB(d, y, hi, hi)
			}
		}
	})
	store(lo, hi)
}

func extreme(bits int, negative bool) (b [32]byte) {
	for i := range b {
		top := (i+1)*8%bits == 0
		switch {
		case negative && top:
			b[i] = 0x80
		case !negative && top:
			b[i] = 0x7f
		case !negative:
			b[i] = 0xff
		}
	}
	return b
}

// dotSum adds up a[i]*b[i] and b[i]. The factors are signed 32-bit numbers: the
// whole value for 32 bits, the low half of the lane for 64. out gets four lanes
// of the sum of b, then four of the products'.
func dotSum(bits int, masked bool) {
	width := bits / 8
	k := begin(name("dotSum", bits, masked),
		fmt.Sprintf("a, b *uint%d, %sn int, out *[8]uint64", bits, maskArg(masked)),
		"adds up b[i] and a[i]*b[i], lane by lane.", masked)
	pa, pb := pointer("a"), pointer("b")
	var one reg.VecVirtual
	if bits == 32 {
		one = YMM()
		VPCMPEQQ(one, one, one)
		VPSRLQ(U8(63), one, one)
	}
	l, s, d := newLanes(k, bits), zeros(2), zeros(2)
	k.loop(func() {
		k.prefetch(pa, width)
		k.prefetch(pb, width)
		for u := range step * width / 32 {
			p, q := YMM(), YMM()
			VMOVDQU(k.at(pa, width, 32*u), p)
			if masked {
				VPAND(k.at(pb, width, 32*u), l.of(u), q)
			} else {
				VMOVDQU(k.at(pb, width, 32*u), q)
			}
			if bits == 64 {
				VPMULDQ(p, q, p)
				VPADDQ(p, d[u%2], d[u%2])
				VPADDQ(q, s[u%2], s[u%2])
				continue
			}
			ph, qh, e := YMM(), YMM(), YMM()
			VPMULDQ(p, q, e)
			VPADDQ(e, d[0], d[0])
			VPSRLQ(U8(32), p, ph)
			VPSRLQ(U8(32), q, qh)
			VPMULDQ(ph, qh, ph)
			VPADDQ(ph, d[1], d[1])
			VPMULDQ(one, q, q)
			VPADDQ(q, s[0], s[0])
			VPMULDQ(one, qh, qh)
			VPADDQ(qh, s[1], s[1])
		}
	})
	store(sumTree(s), sumTree(d))
}
