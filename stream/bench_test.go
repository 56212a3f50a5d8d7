package stream

import (
	"fmt"
	"path/filepath"
	"testing"

	"example.com/ledger/shapes"
)

// BenchmarkAppend appends 40-byte fills: rolls and seals are going on meanwhile.
func BenchmarkAppend(b *testing.B) {
	for _, mode := range modes {
		for _, batch := range []int{1, 256, 4096} {
			b.Run(fmt.Sprintf("mode=%v/batch=%d", mode, batch), func(b *testing.B) {
				s, err := Create(filepath.Join(b.TempDir(), "s"), Options{Schema: shapes.FillSchema(), Durability: mode})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				recs := make([]byte, batch*s.width)
				b.SetBytes(int64(len(recs)))
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := s.Append(recs); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(batch), "ns/record")
				st, err := s.Stats()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(st.Waits), "waits")
			})
		}
	}
}
