package stream

import (
	"fmt"
	"path/filepath"
	"testing"
)

// segmented makes a stream of so many sealed segments.
func segmented(tb testing.TB, segments int) *Stream {
	tb.Helper()
	s, err := Create(filepath.Join(tb.TempDir(), "s"), Options{Schema: small(tb), Capacity: 1, Durability: Os})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	for i := range segments {
		if _, _, err := s.Append(recs(s.schema, i, 1)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.Seal(); err != nil {
		tb.Fatal(err)
	}
	return s
}

// BenchmarkSnapshot takes a snapshot and closes it: the same at any number of
// segments.
func BenchmarkSnapshot(b *testing.B) {
	for _, segments := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("segments=%d", segments), func(b *testing.B) {
			s := segmented(b, segments)
			b.ReportAllocs()
			for b.Loop() {
				n, err := s.Snapshot()
				if err != nil {
					b.Fatal(err)
				}
				_ = n.Close()
			}
		})
	}
}

// TestSnapshotAllocates: a snapshot is one allocation, at any number of segments.
func TestSnapshotAllocates(t *testing.T) {
	if eager {
		t.Skip("race builds allocate of their own")
	}
	for _, segments := range []int{1, 300} {
		s := segmented(t, segments)
		got := testing.AllocsPerRun(100, func() {
			n, err := s.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			_ = n.Close()
		})
		if got > 1 {
			t.Errorf("%d segments: %v allocations, want one at most", segments, got)
		}
	}
}
