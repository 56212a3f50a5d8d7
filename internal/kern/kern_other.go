//go:build !amd64 || purego

package kern

// chunk is the number of values that a call of a kernel may have.
const chunk = 1 << 18

// fast returns how many of n values the assembly may have: none here.
func fast(int) int { return 0 }

func inRangeFast[T Word](dst []uint64, src []T, lo, span T)                  { inRangeGo(dst, src, lo, span) }
func sumFast[T Word](src []T, mask []uint64, isSigned bool) int64            { return sumGo(src, isSigned) }
func minMaxFast[T Word](src []T, mask []uint64, flip T) (lo, hi T)           { return minMaxGo(src, flip) }
func dotSumFast[T uint32 | uint64](a, b []T, mask []uint64) (dot, sum int64) { return dotSumGo(a, b) }

// SetFast does nothing on machines without the assembly kernels.
func SetFast(bool) bool { return false }

func tallyCellsFast[T int32 | int64](*[TableSize]Cell, []uint16, []T, []T) int     { return 0 }
func tallyCandlesFast[T int32 | int64](*[TableSize]Candle, []uint16, []T, []T) int { return 0 }
