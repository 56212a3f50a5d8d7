package kern

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// benchmark runs each kernel over n values, in cache or from memory.
func benchmark[T Word](b *testing.B, n int) {
	var z T
	bits := 8 * int(unsafe.Sizeof(z))
	src := fill[T](rand.New(rand.NewPCG(1, 2)), n, 0)
	mask := make([]uint64, Words(n))
	for i := range mask {
		mask[i] = rand.Uint64() & rand.Uint64()
	}
	out := make([]uint64, Words(n))
	run := func(op string, f func()) {
		for _, simd := range []bool{true, false} {
			b.Run(fmt.Sprintf("op=%s/bits=%d/n=%d/simd=%v", op, bits, n, simd), func(b *testing.B) {
				defer SetFast(SetFast(simd))
				b.SetBytes(int64(n * bits / 8))
				for b.Loop() {
					f()
				}
			})
		}
	}
	run("range", func() { InRange(out, src, src[0], 1<<(bits-2)) })
	run("sum", func() { Sum(src, true) })
	run("sum-masked", func() { SumMasked(src, mask, true) })
	run("minmax", func() { MinMax(src, true) })
	run("minmax-masked", func() { MinMaxMasked(src, mask, true) })
	switch s := any(src).(type) {
	case []uint32:
		run("dotsum", func() { DotSum(s, s) })
		run("dotsum-masked", func() { DotSumMasked(s, s, mask) })
	case []uint64:
		run("dotsum", func() { DotSum(s, s) })
		run("dotsum-masked", func() { DotSumMasked(s, s, mask) })
	}
}

func BenchmarkKernels(b *testing.B) {
	const n = 16384
	benchmark[uint8](b, n)
	benchmark[uint16](b, n)
	benchmark[uint32](b, n)
	benchmark[uint64](b, n)
}
