// Package kern has the inner loops of query, and of sealing: comparisons that yield bit masks,
// sums, smallest and largest values, and dot products, over contiguous values
// of one width.
//
// Each has a plain Go form, which is the fallback and the oracle, and on amd64
// with AVX2 an assembly form, chosen when the process starts. Both give the
// same results, bit for bit. Build with the tag purego to leave assembly out.
//
// A mask has one bit a value: bit i%64 of word i/64. Masks passed in may have
// any bits behind the last value; masks written have zeros there. Functions
// don't keep their arguments and may be called by any number of goroutines.
package kern

import "math/bits"

//go:generate go -C gen run . -out ../kern_amd64.s -stubs ../stubs_amd64.go -pkg kern

// A Word is a column's value as stored: its bits without a sign.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

// Words returns the length of a mask for n values.
func Words(n int) int { return (n + 63) / 64 }

// FillMask sets the first n bits of m and clears the rest of their last word.
func FillMask(m []uint64, n int) {
	for i := range n / 64 {
		m[i] = ^uint64(0)
	}
	if r := n % 64; r != 0 {
		m[n/64] = 1<<r - 1
	}
}

// Count returns how many of the first n bits of m are set.
func Count(m []uint64, n int) int {
	c := 0
	for _, w := range m[:n/64] {
		c += bits.OnesCount64(w)
	}
	if r := n % 64; r != 0 {
		c += bits.OnesCount64(m[n/64] << (64 - r))
	}
	return c
}

// Select appends the positions of the bits set among the first n of m to dst.
func Select(dst []uint32, m []uint64, n int) []uint32 {
	for i, w := range m[:Words(n)] {
		if r := n - 64*i; r < 64 {
			w &= 1<<r - 1
		}
		for base := uint32(64 * i); w != 0; w &= w - 1 {
			dst = append(dst, base+uint32(bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// top is the sign bit of a width: flipping it turns the order of signed values
// into that of unsigned ones, and back.
func top[T Word]() T {
	var z T
	return ^z ^ (^z >> 1)
}

// Top returns the sign bit of T.
func Top[T Word]() T { return top[T]() }

// signed returns the value of x as a two's complement number.
func signed[T Word](x T) int64 {
	t := top[T]()
	return int64(x^t) - int64(t)
}
