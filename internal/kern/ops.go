package kern

// InRange sets bit i of dst where lo ≤ src[i] ≤ lo+span, counting upwards from
// lo and wrapping round: with lo and span of a signed kind's bits it compares
// signed, with those of an unsigned kind unsigned. It writes Words(len(src)) words.
func InRange[T Word](dst []uint64, src []T, lo, span T) {
	n := fast(len(src))
	if n > 0 {
		inRangeFast(dst, src[:n], lo, span)
	}
	inRangeGo(dst[n/64:], src[n:], lo, span)
}

// Sum adds up src, as signed or as unsigned values. It is exact for up to 2^31
// values of up to 32 bits; values of 64 bits wrap, so the caller must know that
// their sum fits, or take Sum128.
func Sum[T Word](src []T, isSigned bool) int64 {
	n := fast(len(src))
	var s int64
	for off := 0; off < n; off += chunk {
		s += sumFast(src[off:min(n, off+chunk)], nil, isSigned)
	}
	return s + sumGo(src[n:], isSigned)
}

// SumMasked is Sum over the values whose bit in mask is set.
func SumMasked[T Word](src []T, mask []uint64, isSigned bool) int64 {
	n := fast(len(src))
	var s int64
	for off := 0; off < n; off += chunk {
		s += sumFast(src[off:min(n, off+chunk)], mask[off/64:], isSigned)
	}
	return s + sumMaskedGo(src[n:], mask[n/64:], isSigned)
}

// MinMax returns the smallest and the largest value of src, which must not be
// empty, in the order of signed or of unsigned values.
func MinMax[T Word](src []T, isSigned bool) (lo, hi T) {
	flip := flipFor[T](isSigned)
	n := fast(len(src))
	if n == 0 {
		return minMaxGo(src, flip)
	}
	lo, hi = minMaxFast(src[:n], nil, flip)
	if n < len(src) {
		l, h := minMaxGo(src[n:], flip)
		lo, hi = min(lo^flip, l^flip)^flip, max(hi^flip, h^flip)^flip
	}
	return lo, hi
}

// MinMaxMasked is MinMax over the values whose bit in mask is set. Where there
// are none, lo is the largest value of the kind and hi the smallest.
func MinMaxMasked[T Word](src []T, mask []uint64, isSigned bool) (lo, hi T) {
	flip := flipFor[T](isSigned)
	n := fast(len(src))
	lo, hi = minMaxMaskedGo(src[n:], mask[n/64:], flip)
	if n > 0 {
		l, h := minMaxFast(src[:n], mask, flip)
		lo, hi = min(lo^flip, l^flip)^flip, max(hi^flip, h^flip)^flip
	}
	return lo, hi
}

// DotSum returns the sums of a[i]*b[i] and of b[i]. Values are signed. Those of
// 64 bits must be within the int32 range, and the caller must know that both sums fit.
func DotSum[T uint32 | uint64](a, b []T) (dot, sum int64) {
	b = b[:len(a)]
	n := fast(len(a))
	if n > 0 {
		dot, sum = dotSumFast(a[:n], b[:n], nil)
	}
	d, s := dotSumGo(a[n:], b[n:])
	return dot + d, sum + s
}

// DotSumMasked is DotSum over the values whose bit in mask is set.
func DotSumMasked[T uint32 | uint64](a, b []T, mask []uint64) (dot, sum int64) {
	b = b[:len(a)]
	n := fast(len(a))
	if n > 0 {
		dot, sum = dotSumFast(a[:n], b[:n], mask)
	}
	d, s := dotSumMaskedGo(a[n:], b[n:], mask[n/64:])
	return dot + d, sum + s
}

// flipFor is what makes unsigned order of T's values: minMaxGo compares
// unsigned after flipping.
func flipFor[T Word](isSigned bool) T {
	if isSigned {
		return top[T]()
	}
	return 0
}
