// Package simd has the floor of a scan: adding up memory with the widest
// instructions that every server has had for ten years.
package simd

import "encoding/binary"

// Sum adds up the 32-bit words of b, modulo 2^32. What is left of b behind the
// last whole word is ignored.
func Sum(b []byte) uint32 {
	n := len(b) &^ (step - 1)
	return sumWide(b[:n]) + sumPlain(b[n:])
}

func sumPlain(b []byte) (sum uint32) {
	for ; len(b) >= 4; b = b[4:] {
		sum += binary.LittleEndian.Uint32(b)
	}
	return sum
}
