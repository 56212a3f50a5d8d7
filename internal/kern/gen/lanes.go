package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes expands the bits of a mask word to vectors of lanes, all ones where the
// bit is set.
type lanes struct {
	k      *kernel
	bits   int
	sel    []reg.VecVirtual // the bit that each lane looks at
	spread reg.VecVirtual   // for bytes: which byte of the mask each lane looks at
}

func newLanes(k *kernel, bits int) *lanes {
	l := &lanes{k: k, bits: bits}
	if k.mask == nil {
		return l
	}
	var b [32]byte
	switch bits {
	case 8:
		for i := range b {
			b[i] = 1 << (i % 8)
		}
		l.sel = []reg.VecVirtual{constant("bits8", b)}
		for i := range b {
			b[i] = byte(i / 8)
		}
		l.spread = constant("spread8", b)
	case 16:
		for i := range 16 {
			w := 1 << i
			b[2*i], b[2*i+1] = byte(w), byte(w>>8)
		}
		l.sel = []reg.VecVirtual{constant("bits16", b)}
	case 32:
		l.sel = []reg.VecVirtual{constant("bits32", dwords(1, 2, 4, 8, 16, 32, 64, 128))}
	case 64:
		l.sel = []reg.VecVirtual{
			constant("bits64lo", dwords(1, 0, 2, 0, 4, 0, 8, 0)),
			constant("bits64hi", dwords(16, 0, 32, 0, 64, 0, 128, 0)),
		}
	}
	return l
}

// of returns the lanes of the u-th vector of this turn's 64 values.
func (l *lanes) of(u int) reg.VecVirtual {
	v := YMM()
	m := func(off int) Mem { return Mem{Base: l.k.mask, Disp: off} }
	switch l.bits {
	case 8:
		VPBROADCASTD(m(4*u), v)
		VPSHUFB(l.spread, v, v)
		VPAND(l.sel[0], v, v)
		VPCMPEQB(l.sel[0], v, v)
	case 16:
		VPBROADCASTW(m(2*u), v)
		VPAND(l.sel[0], v, v)
		VPCMPEQW(l.sel[0], v, v)
	case 32:
		VPBROADCASTB(m(u), v)
		VPAND(l.sel[0], v, v)
		VPCMPEQD(l.sel[0], v, v)
	case 64:
		s := l.sel[u%2]
		VPBROADCASTB(m(u/2), v)
		VPAND(s, v, v)
		VPCMPEQQ(s, v, v)
	}
	return v
}
