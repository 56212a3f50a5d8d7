package stream

import (
	"fmt"
	"path/filepath"
	"testing"

	"example.com/ledger/shapes"
)

// BenchmarkAppendPath is the path of an append between rolls: the same segment
// in memory and in the journal is filled again and again, with the disk out of
// the way.
func BenchmarkAppendPath(b *testing.B) {
	for _, batch := range []int{1, 16, 256, 4096} {
		b.Run(fmt.Sprintf("mode=sealed/batch=%d", batch), func(b *testing.B) {
			s, err := Create(filepath.Join(b.TempDir(), "s"), Options{Schema: shapes.FillSchema(), Durability: Sealed, Capacity: 1 << 16})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			recs := make([]byte, batch*s.width)
			if _, _, err := s.Append(recs); err != nil {
				b.Fatal(err)
			}
			m := s.active
			head := m.j.Header()
			pos := m.j.Pos()
			b.ReportAllocs()
			for b.Loop() {
				if m.n+2*batch > s.info.Capacity {
					m.n = batch
					m.j.Resume(head, pos)
				}
				if _, _, err := s.Append(recs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(batch), "ns/record")
			m.n, s.appended, s.durable = batch, uint64(batch), uint64(batch)
			m.j.Resume(head, pos)
		})
	}
}
