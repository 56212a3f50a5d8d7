package simd

import "golang.org/x/sys/cpu"

// step is how many bytes the assembly takes at once.
const step = 128

// Wide reports whether Sum uses SIMD.
var Wide = cpu.X86.HasAVX2

// sumAVX2 adds up n bytes at p, n being a multiple of step.
//
//go:noescape
func sumAVX2(p *byte, n uintptr) uint32

func sumWide(b []byte) uint32 {
	if !Wide || len(b) == 0 {
		return sumPlain(b)
	}
	return sumAVX2(&b[0], uintptr(len(b)))
}
