package kern

// The plain Go twins. They are written so that the compiler leaves no branch
// and no bounds check in the loops that matter.

func inRangeGo[T Word](dst []uint64, src []T, lo, span T) {
	k := 0
	for ; len(src) >= 64; k++ {
		v := src[:64:64]
		var w uint64
		for i := 0; i < 64; i += 4 {
			u := v[i : i+4 : i+4]
			var q uint64
			if u[0]-lo <= span {
				q = 1
			}
			if u[1]-lo <= span {
				q |= 2
			}
			if u[2]-lo <= span {
				q |= 4
			}
			if u[3]-lo <= span {
				q |= 8
			}
			w |= q << i
		}
		dst[k] = w
		src = src[64:]
	}
	if len(src) > 0 {
		var w uint64
		for i, x := range src {
			if x-lo <= span {
				w |= 1 << i
			}
		}
		dst[k] = w
	}
}

// sumGo wraps for 64 bits.
func sumGo[T Word](src []T, isSigned bool) int64 {
	var a, b, c, d int64
	if !isSigned {
		for ; len(src) >= 4; src = src[4:] {
			v := src[:4:4]
			a, b, c, d = a+int64(v[0]), b+int64(v[1]), c+int64(v[2]), d+int64(v[3])
		}
		for _, x := range src {
			a += int64(x)
		}
		return a + b + c + d
	}
	t := top[T]()
	n := int64(len(src))
	for ; len(src) >= 4; src = src[4:] {
		v := src[:4:4]
		a, b, c, d = a+int64(v[0]^t), b+int64(v[1]^t), c+int64(v[2]^t), d+int64(v[3]^t)
	}
	for _, x := range src {
		a += int64(x ^ t)
	}
	return a + b + c + d - n*int64(t)
}

func sumMaskedGo[T Word](src []T, mask []uint64, isSigned bool) int64 {
	var t T
	if isSigned {
		t = top[T]()
	}
	var a, n int64
	for i, x := range src {
		m := int64(mask[i/64] >> (i % 64) & 1)
		a += int64(x^t) & -m
		n += m
	}
	return a - n*int64(t)
}

// minMaxGo wants len(src) > 0. The order is that of x^flip, unsigned.
func minMaxGo[T Word](src []T, flip T) (lo, hi T) {
	lo, hi = src[0]^flip, src[0]^flip
	for _, x := range src {
		x ^= flip
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo ^ flip, hi ^ flip
}

func minMaxMaskedGo[T Word](src []T, mask []uint64, flip T) (lo, hi T) {
	lo, hi = ^T(0), 0
	for i, x := range src {
		m := T(0) - T(mask[i/64]>>(i%64)&1)
		x ^= flip
		lo, hi = min(lo, x|^m), max(hi, x&m)
	}
	return lo ^ flip, hi ^ flip
}

func dotSumGo[T Word](a, b []T) (dot, sum int64) {
	b = b[:len(a)]
	var d1, s1 int64
	for ; len(a) >= 2; a, b = a[2:], b[2:] {
		u, v := a[:2:2], b[:2:2]
		x, y := signed(v[0]), signed(v[1])
		sum, s1 = sum+x, s1+y
		dot, d1 = dot+signed(u[0])*x, d1+signed(u[1])*y
	}
	for i, y := range b {
		sum += signed(y)
		dot += signed(a[i]) * signed(y)
	}
	return dot + d1, sum + s1
}

func dotSumMaskedGo[T Word](a, b []T, mask []uint64) (dot, sum int64) {
	b = b[:len(a)]
	for i, x := range a {
		q := signed(b[i]) & -int64(mask[i/64]>>(i%64)&1)
		sum += q
		dot += signed(x) * q
	}
	return dot, sum
}
