package query

import (
	"math/big"
	"math/bits"
)

// A wide is a signed integer of 192 bits, two's complement, lowest word first.
// That is enough for the sum of 2^63 products of two 64-bit values, so nothing
// that a query adds up can overflow it.
type wide [3]uint64

// wideInt returns v.
func wideInt(v int64) wide {
	s := uint64(v >> 63)
	return wide{uint64(v), s, s}
}

// wideBits returns a value of a field: bits are signed or unsigned.
func wideBits(v uint64, isSigned bool) wide {
	if isSigned {
		return wideInt(int64(v))
	}
	return wide{v}
}

// add adds o to w.
func (w *wide) add(o wide) {
	var c uint64
	w[0], c = bits.Add64(w[0], o[0], 0)
	w[1], c = bits.Add64(w[1], o[1], c)
	w[2], _ = bits.Add64(w[2], o[2], c)
}

// addInt adds v to w.
func (w *wide) addInt(v int64) {
	s := uint64(v >> 63)
	var c uint64
	w[0], c = bits.Add64(w[0], uint64(v), 0)
	w[1], c = bits.Add64(w[1], s, c)
	w[2], _ = bits.Add64(w[2], s, c)
}

// addMul adds a*b to w; each is signed or unsigned.
func (w *wide) addMul(a, b uint64, aSigned, bSigned bool) {
	hi, lo := bits.Mul64(a, b)
	// As unsigned numbers negative factors are 2^64 too large.
	var over uint64
	if aSigned && int64(a) < 0 {
		hi, over = bits.Sub64(hi, b, 0)
		over = -over
		if bSigned && int64(b) < 0 {
			over++ // b itself was 2^64 too large
		}
	}
	if bSigned && int64(b) < 0 {
		var c uint64
		hi, c = bits.Sub64(hi, a, 0)
		over -= c
	}
	w.add(wide{lo, hi, over})
}

// neg returns -w.
func (w wide) neg() wide {
	var r wide
	var b uint64
	r[0], b = bits.Sub64(0, w[0], 0)
	r[1], b = bits.Sub64(0, w[1], b)
	r[2], _ = bits.Sub64(0, w[2], b)
	return r
}

// sign returns -1, 0 or 1.
func (w wide) sign() int {
	switch {
	case int64(w[2]) < 0:
		return -1
	case w == wide{}:
		return 0
	}
	return 1
}

// cmp compares w and o.
func (w wide) cmp(o wide) int {
	if w[2] != o[2] {
		if int64(w[2]) < int64(o[2]) {
			return -1
		}
		return 1
	}
	for i := 1; i >= 0; i-- {
		if w[i] != o[i] {
			if w[i] < o[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// int64 returns w if it fits.
func (w wide) int64() (int64, bool) {
	return int64(w[0]), w == wideInt(int64(w[0]))
}

// big returns w.
func (w wide) big() *big.Int {
	m := w
	if w.sign() < 0 {
		m = w.neg()
	}
	z := new(big.Int)
	var t big.Int
	for i := len(m) - 1; i >= 0; i-- {
		z.Lsh(z, 64).Or(z, t.SetUint64(m[i]))
	}
	if w.sign() < 0 {
		z.Neg(z)
	}
	return z
}

// wideBig returns z, which must fit.
func wideBig(z *big.Int) wide {
	var w wide
	var t big.Int
	m := new(big.Int).Abs(z)
	for i := range w {
		w[i] = t.And(m, maxUint64).Uint64()
		m.Rsh(m, 64)
	}
	if z.Sign() < 0 {
		return w.neg()
	}
	return w
}

var maxUint64 = new(big.Int).SetUint64(^uint64(0))
