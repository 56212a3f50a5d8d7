package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// both runs f with assembly and without, and wants the same answer.
func both[R comparable](t *testing.T, what string, f func() R) R {
	t.Helper()
	was := SetFast(true)
	defer SetFast(was)
	a := f()
	SetFast(false)
	if b := f(); a != b {
		t.Fatalf("%s: assembly %v, plain Go %v", what, a, b)
	}
	return a
}

type pair[A, B any] struct {
	a A
	b B
}

// check runs every kernel over values, masked by mask, against each other and
// against sums made the simplest way.
func check[T Word](t *testing.T, src, other []T, mask []uint64, lo, span T) {
	t.Helper()
	n := len(src)
	if n == 0 {
		return
	}
	var z T
	what := func(s string) string { return fmt.Sprintf("%s, %d bits, %d values", s, 8*unsafe.Sizeof(z), n) }
	got := make([]uint64, Words(n)+1)
	got[Words(n)] = 0xabcdef // must stay
	both(t, what("InRange"), func() string {
		clear(got[:Words(n)])
		InRange(got, src, lo, span)
		return fmt.Sprintf("%x", got)
	})
	for i, x := range src {
		if want := x-lo <= span; want != (got[i/64]>>(i%64)&1 == 1) {
			t.Fatalf("%s: value %d (%d in [%d, +%d]): bit is %v", what("InRange"), i, x, lo, span, !want)
		}
	}
	if r := n % 64; r != 0 && got[n/64]>>r != 0 {
		t.Fatalf("%s: bits set behind the end", what("InRange"))
	}
	if got[Words(n)] != 0xabcdef {
		t.Fatalf("%s: wrote behind its words", what("InRange"))
	}
	for _, isSigned := range []bool{false, true} {
		val := func(x T) int64 {
			if isSigned {
				return signed(x)
			}
			return int64(x)
		}
		flip := flipFor[T](isSigned)
		var sum, sumM int64
		loM, hiM := ^T(0)^flip, flip
		l, h := ^T(0)^flip, flip
		for i, x := range src {
			sum += val(x)
			l, h = min(l^flip, x^flip)^flip, max(h^flip, x^flip)^flip
			if mask[i/64]>>(i%64)&1 == 1 {
				sumM += val(x)
				loM, hiM = min(loM^flip, x^flip)^flip, max(hiM^flip, x^flip)^flip
			}
		}
		if s := both(t, what("Sum"), func() int64 { return Sum(src, isSigned) }); s != sum {
			t.Fatalf("%s signed=%v = %d, want %d", what("Sum"), isSigned, s, sum)
		}
		if s := both(t, what("SumMasked"), func() int64 { return SumMasked(src, mask, isSigned) }); s != sumM {
			t.Fatalf("%s signed=%v = %d, want %d", what("SumMasked"), isSigned, s, sumM)
		}
		mm := both(t, what("MinMax"), func() pair[T, T] { a, b := MinMax(src, isSigned); return pair[T, T]{a, b} })
		if mm != (pair[T, T]{l, h}) {
			t.Fatalf("%s signed=%v = %v, want %v %v", what("MinMax"), isSigned, mm, l, h)
		}
		mm = both(t, what("MinMaxMasked"), func() pair[T, T] { a, b := MinMaxMasked(src, mask, isSigned); return pair[T, T]{a, b} })
		if mm != (pair[T, T]{loM, hiM}) {
			t.Fatalf("%s signed=%v = %v, want %v %v", what("MinMaxMasked"), isSigned, mm, loM, hiM)
		}
	}
	switch a := any(src).(type) {
	case []uint32:
		checkDot(t, a, any(other).([]uint32), mask)
	case []uint64:
		x, y := make([]uint64, n), make([]uint64, n)
		for i := range a {
			x[i], y[i] = uint64(int64(int32(a[i]))), uint64(int64(int32(any(other).([]uint64)[i])))
		}
		checkDot(t, x, y, mask)
	}
}

func checkDot[T uint32 | uint64](t *testing.T, a, b []T, mask []uint64) {
	t.Helper()
	var want, wantM pair[int64, int64]
	for i, x := range a {
		q := signed(b[i])
		want = pair[int64, int64]{want.a + signed(x)*q, want.b + q}
		if mask[i/64]>>(i%64)&1 == 1 {
			wantM = pair[int64, int64]{wantM.a + signed(x)*q, wantM.b + q}
		}
	}
	if got := both(t, "DotSum", func() pair[int64, int64] { d, s := DotSum(a, b); return pair[int64, int64]{d, s} }); got != want {
		t.Fatalf("DotSum of %d = %v, want %v", len(a), got, want)
	}
	if got := both(t, "DotSumMasked", func() pair[int64, int64] { d, s := DotSumMasked(a, b, mask); return pair[int64, int64]{d, s} }); got != wantM {
		t.Fatalf("DotSumMasked of %d = %v, want %v", len(a), got, wantM)
	}
}

// fill makes n values, a share of them extreme, at an odd place in memory.
func fill[T Word](r *rand.Rand, n, shift int) []T {
	buf := make([]T, n+shift)[shift:]
	style := r.IntN(4)
	for i := range buf {
		switch {
		case style == 0:
			buf[i] = top[T]() - T(r.IntN(2)) // around the signed extremes
		case style == 1:
			buf[i] = T(r.IntN(3)) - 1 // 0, 1, all ones
		case r.IntN(4) == 0:
			buf[i] = []T{0, 1, ^T(0), top[T](), top[T]() - 1}[r.IntN(5)]
		default:
			buf[i] = T(r.Uint64())
		}
	}
	return buf
}

func masks(r *rand.Rand, n int) []uint64 {
	m := make([]uint64, Words(n)+1)
	style := r.IntN(4)
	for i := range m {
		switch style {
		case 0:
			m[i] = r.Uint64()
		case 1:
			m[i] = 0
		case 2:
			m[i] = r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64()
		default:
			m[i] = ^uint64(0) // also behind the end
		}
	}
	return m
}

func checkAll(t *testing.T, r *rand.Rand, n, shift int) {
	t.Helper()
	m := masks(r, n)
	check(t, fill[uint8](r, n, shift), fill[uint8](r, n, 0), m, uint8(r.Uint32()), uint8(r.Uint32()))
	check(t, fill[uint16](r, n, shift), fill[uint16](r, n, 0), m, uint16(r.Uint32()), uint16(r.Uint32()))
	check(t, fill[uint32](r, n, shift), fill[uint32](r, n, 0), m, r.Uint32(), r.Uint32())
	check(t, fill[uint64](r, n, shift), fill[uint64](r, n, 0), m, r.Uint64(), r.Uint64())
}

// TestLengths runs all kernels over every length up to 200 and some larger ones.
func TestLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		for shift := range 3 {
			checkAll(t, r, n, shift)
		}
	}
	for _, n := range []int{4096, 65536, 65537, 1<<18 + 130, 1<<19 + 64} {
		checkAll(t, r, n, 1)
	}
}

// TestExtremes fills long columns with the one value that strains a sum most.
func TestExtremes(t *testing.T) {
	n := 1<<18 + 64
	m := make([]uint64, Words(n))
	FillMask(m, n)
	extremes := func(x uint64) {
		a, b, c, d := make([]uint8, n), make([]uint16, n), make([]uint32, n), make([]uint64, n)
		for i := range n {
			a[i], b[i], c[i], d[i] = uint8(x>>56), uint16(x>>48), uint32(x>>32), x
		}
		check(t, a, a, m, a[0], 0)
		check(t, b, b, m, b[0], 0)
		check(t, c, c, m, c[0], 0)
		check(t, d, d, m, d[0], 0)
	}
	for _, x := range []uint64{0, math.MaxUint64, 1 << 63, math.MaxInt64} {
		extremes(x)
	}
}

func FuzzKernels(f *testing.F) {
	for _, n := range []int{1, 63, 64, 65, 127, 128, 1000} {
		f.Add(uint64(n), n, n%8)
	}
	f.Fuzz(func(t *testing.T, seed uint64, n, shift int) {
		if n < 0 || n > 5000 || shift < 0 || shift > 64 {
			t.Skip("outside of what the target explores")
		}
		checkAll(t, rand.New(rand.NewPCG(seed, 7)), n, shift)
	})
}

func TestSelectAndCount(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for n := range 300 {
		m := masks(r, n)
		sel := Select(nil, m, n)
		var want []uint32
		for i := range n {
			if m[i/64]>>(i%64)&1 == 1 {
				want = append(want, uint32(i))
			}
		}
		if fmt.Sprint(sel) != fmt.Sprint(want) || Count(m, n) != len(want) {
			t.Fatalf("of %d bits of %x: selected %v, counted %d, want %v", n, m, sel, Count(m, n), want)
		}
		FillMask(m, n)
		if Count(m, n) != n || n%64 != 0 && m[n/64]>>(n%64) != 0 {
			t.Fatalf("FillMask(%d) = %x", n, m)
		}
	}
}
