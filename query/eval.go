package query

import (
	"math/bits"

	"example.com/ledger/internal/kern"
)

// maskAt returns the mask of a depth, made when it is first wanted.
func (b *block) maskAt(depth int) []uint64 {
	for len(b.mask) <= depth {
		b.mask = append(b.mask, make([]uint64, kern.Words(blockColumns)))
	}
	return b.mask[depth][:kern.Words(b.n)]
}

// eval returns the mask of the window's records for which t holds, with zeros
// behind the last. It is valid until the next call.
func (b *block) eval(t *tree) []uint64 {
	m := b.maskAt(0)
	b.evalInto(t, m, 1)
	return m
}

func (b *block) evalInto(t *tree, m []uint64, depth int) {
	switch t.op {
	case opIn:
		b.leafInto(t, b.values(t.col), m, depth)
		return
	case opAnd:
		kern.FillMask(m, b.n)
	default:
		clear(m)
	}
	for i, k := range t.kids {
		if i == 0 {
			b.evalInto(k, m, depth)
			continue
		}
		tmp := b.maskAt(depth)
		if t.op == opAnd {
			if isZero(m) {
				return
			}
			b.evalInto(k, tmp, depth+1)
			for j := range m {
				m[j] &= tmp[j]
			}
			continue
		}
		b.evalInto(k, tmp, depth+1)
		for j := range m {
			m[j] |= tmp[j]
		}
	}
}

func isZero(m []uint64) bool {
	for _, w := range m {
		if w != 0 {
			return false
		}
	}
	return true
}

// spansMax is the number of spans up to which each is compared with all values.
const spansMax = 8

// leafInto fills m with the comparison of v with a leaf's set.
func (b *block) leafInto(t *tree, v vec, m []uint64, depth int) {
	if v.n == 0 {
		return
	}
	if t.rest != nil && len(t.rest) <= spansMax {
		b.spansInto(t.rest, v, m, depth)
		for i := range m {
			m[i] = ^m[i]
		}
		if r := v.n % 64; r != 0 {
			m[len(m)-1] &= 1<<r - 1
		}
		return
	}
	x := t.set
	if len(x) <= spansMax {
		b.spansInto(x, v, m, depth)
		return
	}
	compareSpan(x.hull(), v, m)
	isSigned := v.kind.Signed()
	for i, w := range m {
		for rest := w; rest != 0; rest &= rest - 1 {
			bit := rest & -rest
			if !x.has(order(bitsAt(v, i*64+bits.TrailingZeros64(rest)), isSigned)) {
				w &^= bit
			}
		}
		m[i] = w
	}
}

func (b *block) spansInto(x set, v vec, m []uint64, depth int) {
	compareSpan(x[0], v, m)
	for _, s := range x[1:] {
		tmp := b.maskAt(depth)
		compareSpan(s, v, tmp)
		for j := range m {
			m[j] |= tmp[j]
		}
	}
}

// compareSpan sets the bits of the values that lie in s.
func compareSpan(s span, v vec, m []uint64) {
	lo := order(s.lo, v.kind.Signed()) // order turns numbers back, too
	n := s.hi - s.lo
	switch v.kind.Size() {
	case 1:
		kern.InRange(m, words[uint8](v), uint8(lo), uint8(n))
	case 2:
		kern.InRange(m, words[uint16](v), uint16(lo), uint16(n))
	case 4:
		kern.InRange(m, words[uint32](v), uint32(lo), uint32(n))
	default:
		kern.InRange(m, words[uint64](v), lo, n)
	}
}

// bitsAt returns value i of v, widened to 64 bits.
func bitsAt(v vec, i int) uint64 {
	isSigned := v.kind.Signed()
	switch v.kind.Size() {
	case 1:
		x := words[uint8](v)[i]
		if isSigned {
			return uint64(int8(x))
		}
		return uint64(x)
	case 2:
		x := words[uint16](v)[i]
		if isSigned {
			return uint64(int16(x))
		}
		return uint64(x)
	case 4:
		x := words[uint32](v)[i]
		if isSigned {
			return uint64(int32(x))
		}
		return uint64(x)
	}
	return words[uint64](v)[i]
}

// selected appends the positions in the window where t holds.
func (b *block) selected(dst []uint32, t *tree) []uint32 {
	if t == always {
		for i := range b.n {
			dst = append(dst, uint32(i))
		}
		return dst
	}
	return kern.Select(dst, b.eval(t), b.n)
}
