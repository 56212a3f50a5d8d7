package journal

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 5*sumStep+37)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	s := newSums(data)
	check := func(seed uint32, from, to int) {
		t.Helper()
		want := crc32.Update(seed, castagnoli, data[from:to])
		if got := s.of(seed, int64(from), int64(to)); got != want {
			t.Fatalf("of(%#x, %d, %d) = %#x, want %#x", seed, from, to, got, want)
		}
	}
	for _, from := range []int{0, 1, sumStep - 1, sumStep, 5 * sumStep, len(data)} {
		for to := from; to <= len(data); to++ {
			check(r.Uint32(), from, to)
		}
	}
	for range 2000 {
		from := r.IntN(len(data))
		check(r.Uint32(), from, from+r.IntN(len(data)-from+1))
	}
	newSums(nil).of(0, 0, 0)
}

// TestAdvance: far steps are many near ones.
func TestAdvance(t *testing.T) {
	for _, n := range []uint64{0, 1, 7, 1 << 16, 1<<40 + 12345} {
		got, want := advance(0x12345678, n), advance(advance(0x12345678, n/2), n-n/2)
		if got != want {
			t.Errorf("advance by %d = %#x, in two steps %#x", n, got, want)
		}
	}
}
