package simd

import (
	"math/rand/v2"
	"testing"
)

// TestSum: both ways of adding up agree at every length.
func TestSum(t *testing.T) {
	b := make([]byte, 4096)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	for n := range len(b) {
		if got, want := Sum(b[:n]), sumPlain(b[:n]); got != want {
			t.Fatalf("Sum of %d bytes = %d, want %d", n, got, want)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	m := make([]byte, 16<<20)
	b.SetBytes(int64(len(m)))
	for b.Loop() {
		Sum(m)
	}
}
