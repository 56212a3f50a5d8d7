package query

import (
	"math"
	"math/bits"

	"example.com/ledger/internal/kern"
)

// fits reports whether n products of values up to a and b add up to less than 2^63.
func fits(a, b uint64, n int) bool {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return false
	}
	hi, lo = bits.Mul64(lo, uint64(n))
	return hi == 0 && lo <= math.MaxInt64
}

// dotSum adds up products, and the second factors.
func (w *worker) dotSum(s step, mask []uint64, slots []wide) {
	b := w.b
	va, vb := b.values(s.a), b.values(s.b)
	n := va.n
	ma := w.largest(s.a, math.MaxInt32)
	mb := w.largest(s.b, math.MaxInt32)
	if !fits(ma, mb, n) { // their bounds are too wide: look
		ma, mb = w.largest(s.a, 0), w.largest(s.b, 0)
	}
	if !fits(ma, max(mb, 1), n) || !fits(mb, 1, n) {
		w.dotWide(s, mask, slots)
		return
	}
	var dot, sum int64
	narrow := ma <= math.MaxInt32 && mb <= math.MaxInt32
	switch {
	case narrow && va.kind.Size() == 4 && vb.kind.Size() == 4:
		dot, sum = dotSumOf(words[uint32](va), words[uint32](vb), mask)
	case narrow:
		dot, sum = dotSumOf(b.wide(s.a), b.wide(s.b), mask)
	default:
		dot, sum = dotLong(b.wide(s.a), b.wide(s.b), mask)
	}
	slots[s.x].addInt(dot)
	if s.y >= 0 {
		slots[s.y].addInt(sum)
	}
}

func dotSumOf[T uint32 | uint64](a, b []T, mask []uint64) (dot, sum int64) {
	if mask == nil {
		return kern.DotSum(a, b)
	}
	return kern.DotSumMasked(a, b, mask)
}

// dotLong multiplies 64-bit values, whose sums are known to fit.
func dotLong(a, b []uint64, mask []uint64) (dot, sum int64) {
	b = b[:len(a)]
	if mask == nil {
		for i, x := range a {
			q := int64(b[i])
			sum += q
			dot += int64(x) * q
		}
		return dot, sum
	}
	for i, x := range a {
		q := int64(b[i]) & -int64(mask[i/64]>>(i%64)&1)
		sum += q
		dot += int64(x) * q
	}
	return dot, sum
}

// dotWide multiplies to 128 bits and adds up in as many, or in 192 if it must.
func (w *worker) dotWide(s step, mask []uint64, slots []wide) {
	b := w.b
	x, y := b.wide(s.a), b.wide(s.b)
	sx, sy := b.col(s.a).kind.Signed(), b.col(s.b).kind.Signed()
	ma, mb := w.largest(s.a, math.MaxInt64), w.largest(s.b, math.MaxInt64)
	if dot := &slots[s.x]; ma <= math.MaxInt64 && mb <= math.MaxInt64 && fits128(ma, mb, b.n) {
		lo, hi := dot128(x, y, mask)
		dot.add(wide{lo, hi, uint64(int64(hi) >> 63)})
	} else {
		each(mask, b.n, func(i int) { dot.addMul(x[i], y[i], sx, sy) })
	}
	if s.y >= 0 {
		w.sum(s.b, mask, &slots[s.y])
	}
}

// fits128 reports whether n products of values up to a and b add up to less than 2^127.
func fits128(a, b uint64, n int) bool {
	hi, _ := bits.Mul64(a, b)
	over, lo := bits.Mul64(hi+1, uint64(n))
	return over == 0 && lo <= math.MaxInt64
}

// dot128 adds up signed products in 128 bits.
func dot128(x, y []uint64, mask []uint64) (lo, hi uint64) {
	y = y[:len(x)]
	var c uint64
	if mask == nil {
		for i, a := range x {
			h, l := kern.MulSigned(a, y[i])
			lo, c = bits.Add64(lo, l, 0)
			hi, _ = bits.Add64(hi, h, c)
		}
		return lo, hi
	}
	for i, a := range x {
		h, l := kern.MulSigned(a, y[i]&-(mask[i/64]>>(i%64)&1))
		lo, c = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, c)
	}
	return lo, hi
}
