//go:build !amd64

package simd

const step = 128

// Wide reports whether Sum uses SIMD.
var Wide = false

func sumWide(b []byte) uint32 { return sumPlain(b) }
