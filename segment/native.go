package segment

import (
	"math/bits"
	"runtime"
	"slices"
	"unsafe"
)

// Files and records are little-endian. Values are loaded and stored as the
// machine does it; only where one is looked at on a big-endian machine its bytes
// are turned round. The constants make the test vanish elsewhere.
const (
	bigEndian = runtime.GOARCH == "s390x" || runtime.GOARCH == "ppc64" ||
		runtime.GOARCH == "mips" || runtime.GOARCH == "mips64"
	// unalignedOK: the machine loads a value from any address.
	unalignedOK = runtime.GOARCH == "amd64" || runtime.GOARCH == "386" ||
		runtime.GOARCH == "arm64" || runtime.GOARCH == "ppc64le" ||
		runtime.GOARCH == "ppc64" || runtime.GOARCH == "s390x"
)

// Int is any integer type a column can be read as. A named type will do.
type Int interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64
}

// swap turns the bytes of v round.
func swap[T Int](v T) T {
	switch unsafe.Sizeof(v) {
	case 2:
		return T(bits.ReverseBytes16(uint16(v)))
	case 4:
		return T(bits.ReverseBytes32(uint32(v)))
	case 8:
		return T(bits.ReverseBytes64(uint64(v)))
	}
	return v
}

// aligned returns b, or a copy of it where the machine could not load 8 bytes
// from its begin.
func aligned(b []byte) []byte {
	if isAligned(b) {
		return b
	}
	c := alignedBytes(len(b))
	copy(c, b)
	return c
}

// isAligned tells whether values may be loaded from and stored to b's records.
func isAligned(b []byte) bool {
	return unalignedOK || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 == 0
}

// alignedBytes makes n bytes that begin at a multiple of 8.
func alignedBytes(n int) []byte {
	words := slices.Grow([]uint64(nil), (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), cap(words)*8)[:n]
}
