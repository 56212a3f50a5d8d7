//go:build !purego

package kern

import (
	"math"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// chunk is the number of values that a call of a kernel may have: the lanes of
// the 16-bit sum hold no more.
const chunk = 1 << 18

var useAVX2 atomic.Bool

func init() { useAVX2.Store(cpu.X86.HasAVX2) }

// SetFast chooses between assembly and plain Go where the machine has both, and
// returns whether assembly was in use. It is for tests; what runs meanwhile uses
// either, with the same result.
func SetFast(on bool) bool { return useAVX2.Swap(on && cpu.X86.HasAVX2) }

// fast returns how many of n values the assembly may have.
func fast(n int) int {
	if !useAVX2.Load() {
		return 0
	}
	return n &^ 63
}

func ptr[W, T Word](s []T) *W { return (*W)(unsafe.Pointer(unsafe.SliceData(s))) }

func inRangeFast[T Word](dst []uint64, src []T, lo, span T) {
	d := &dst[:len(src)/64][0]
	switch unsafe.Sizeof(lo) {
	case 1:
		inRange8AVX2(d, ptr[uint8](src), len(src), uint8(lo), uint8(span))
	case 2:
		inRange16AVX2(d, ptr[uint16](src), len(src), uint16(lo), uint16(span))
	case 4:
		inRange32AVX2(d, ptr[uint32](src), len(src), uint32(lo), uint32(span))
	default:
		inRange64AVX2(d, ptr[uint64](src), len(src), uint64(lo), uint64(span))
	}
}

// sumFast wants len(src) to be a multiple of 64 and at most chunk; a nil mask
// takes every value.
func sumFast[T Word](src []T, mask []uint64, isSigned bool) int64 {
	var out [4]uint64
	n := len(src)
	count := n
	var m *uint64
	if mask != nil {
		m = &mask[:n/64][0]
		count = Count(mask, n)
	}
	var z T
	switch unsafe.Sizeof(z) {
	case 1: // the kernel is unsigned
		s, flip, bias := ptr[uint8](src), uint8(0), int64(0)
		if isSigned {
			flip, bias = 0x80, 0x80
		}
		if m == nil {
			sum8AVX2(s, n, flip, &out)
		} else {
			sumMasked8AVX2(s, m, n, flip, &out)
		}
		return add4(out) - bias*int64(count)
	case 2: // the kernel is signed
		s, flip, bias := ptr[uint16](src), uint16(0x8000), int64(0x8000)
		if isSigned {
			flip, bias = 0, 0
		}
		if m == nil {
			sum16AVX2(s, n, flip, &out)
		} else {
			sumMasked16AVX2(s, m, n, flip, &out)
		}
		var t int64
		for _, x := range out {
			t += int64(int32(x)) + int64(x)>>32
		}
		return t + bias*int64(count)
	case 4: // the kernel is unsigned
		s, flip, bias := ptr[uint32](src), uint32(0), int64(0)
		if isSigned {
			flip, bias = 1<<31, 1<<31
		}
		if m == nil {
			sum32AVX2(s, n, flip, &out)
		} else {
			sumMasked32AVX2(s, m, n, flip, &out)
		}
		return add4(out) - bias*int64(count)
	}
	if m == nil {
		sum64AVX2(ptr[uint64](src), n, &out)
	} else {
		sumMasked64AVX2(ptr[uint64](src), m, n, &out)
	}
	return add4(out)
}

func add4(v [4]uint64) int64 { return int64(v[0] + v[1] + v[2] + v[3]) }

// minMaxFast takes the flip of the twins, which compare unsigned; the kernels
// compare signed, so they get the other one.
func minMaxFast[T Word](src []T, mask []uint64, flip T) (lo, hi T) {
	var out [8]uint64
	n, k := len(src), flip^top[T]()
	var m *uint64
	if mask != nil {
		m = &mask[:n/64][0]
	}
	switch unsafe.Sizeof(flip) {
	case 1:
		if m == nil {
			minMax8AVX2(ptr[uint8](src), n, uint8(k), &out)
		} else {
			minMaxMasked8AVX2(ptr[uint8](src), m, n, uint8(k), &out)
		}
	case 2:
		if m == nil {
			minMax16AVX2(ptr[uint16](src), n, uint16(k), &out)
		} else {
			minMaxMasked16AVX2(ptr[uint16](src), m, n, uint16(k), &out)
		}
	case 4:
		if m == nil {
			minMax32AVX2(ptr[uint32](src), n, uint32(k), &out)
		} else {
			minMaxMasked32AVX2(ptr[uint32](src), m, n, uint32(k), &out)
		}
	default:
		if m == nil {
			minMax64AVX2(ptr[uint64](src), n, uint64(k), &out)
		} else {
			minMaxMasked64AVX2(ptr[uint64](src), m, n, uint64(k), &out)
		}
	}
	lanes := unsafe.Slice((*T)(unsafe.Pointer(&out)), 64/int(unsafe.Sizeof(flip)))
	half := len(lanes) / 2
	l, h := int64(math.MaxInt64), int64(math.MinInt64)
	for i, x := range lanes[:half] {
		l, h = min(l, signed(x)), max(h, signed(lanes[half+i]))
	}
	return T(l) ^ k, T(h) ^ k
}

func dotSumFast[T uint32 | uint64](a, b []T, mask []uint64) (dot, sum int64) {
	var out [8]uint64
	n := len(a)
	var m *uint64
	if mask != nil {
		m = &mask[:n/64][0]
	}
	var z T
	switch {
	case unsafe.Sizeof(z) == 4 && m == nil:
		dotSum32AVX2(ptr[uint32](a), ptr[uint32](b), n, &out)
	case unsafe.Sizeof(z) == 4:
		dotSumMasked32AVX2(ptr[uint32](a), ptr[uint32](b), m, n, &out)
	case m == nil:
		dotSum64AVX2(ptr[uint64](a), ptr[uint64](b), n, &out)
	default:
		dotSumMasked64AVX2(ptr[uint64](a), ptr[uint64](b), m, n, &out)
	}
	return add4([4]uint64(out[4:])), add4([4]uint64(out[:4]))
}

// tallyCellsFast does as many records as assembly can, and returns their number.
func tallyCellsFast[T int32 | int64](tab *[TableSize]Cell, keys []uint16, p, q []T) int {
	n := len(keys) &^ 3
	var z T
	if !useAVX2.Load() || n == 0 || unsafe.Sizeof(z) != 4 {
		return 0
	}
	_, _ = p[n-1], q[n-1]
	tallyCellsAVX2((*uint64)(unsafe.Pointer(tab)), &keys[0], (*int32)(unsafe.Pointer(&p[0])), (*int32)(unsafe.Pointer(&q[0])), n)
	return n
}

// tallyCandlesFast is tallyCellsFast for candles.
func tallyCandlesFast[T int32 | int64](tab *[TableSize]Candle, keys []uint16, p, q []T) int {
	n := len(keys) &^ 3
	var z T
	if !useAVX2.Load() || n == 0 || unsafe.Sizeof(z) != 4 {
		return 0
	}
	_, _ = p[n-1], q[n-1]
	tallyCandlesAVX2((*uint64)(unsafe.Pointer(tab)), &keys[0], (*int32)(unsafe.Pointer(&p[0])), (*int32)(unsafe.Pointer(&q[0])), n)
	return n
}
