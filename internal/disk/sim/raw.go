package sim

import "encoding/binary"

// The functions here touch bytes that the engine may be storing into at the
// same time, through a mapping. For the race detector that is a race between
// two goroutines; for a real disk it is a kernel that copies a page which is
// being written, and no race at all. So the detector isn't told. They copy word
// by word, since the built-in copy tells it even from here.

//go:norace
func rawCopy(dst, src []byte) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for len(dst) >= 8 && len(src) >= 8 {
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src))
		dst, src = dst[8:], src[8:]
	}
	for i := range src {
		dst[i] = src[i]
	}
}

// rawEqual reports whether a and b, of one length, hold the same bytes.
//
//go:norace
func rawEqual(a, b []byte) bool {
	for len(a) >= 8 && len(b) >= 8 {
		if binary.LittleEndian.Uint64(a) != binary.LittleEndian.Uint64(b) {
			return false
		}
		a, b = a[8:], b[8:]
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

//go:norace
func isZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
