package verify_test

import (
	"testing"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

func BenchmarkSmallStream(b *testing.B) {
	k := kind{stream.Commit, segment.Columns, 27, true, 0}
	dir, _ := k.make(b)
	b.ReportAllocs()
	for b.Loop() {
		clean(b, dir)
	}
}
