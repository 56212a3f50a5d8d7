package verify_test

import (
	"testing"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// BenchmarkStream measures verify on a small stream in memory: what it costs
// beside reading and checksums.
func BenchmarkStream(b *testing.B) {
	k := kind{stream.Commit, segment.Columns, 27, true, 0, false}
	m := k.load()
	b.ReportAllocs()
	for b.Loop() {
		if r := look(b, m); !r.OK {
			b.Fatal(text(r))
		}
	}
}
