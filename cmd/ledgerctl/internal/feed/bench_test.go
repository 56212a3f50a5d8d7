package feed_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"example.com/ledger/cmd/ledgerctl/internal/feed"
)

// BenchmarkRead reads records as dump writes them.
func BenchmarkRead(b *testing.B) {
	var csv, lines strings.Builder
	csv.WriteString("seq,ts,px,qty,side\n")
	const records = 10000
	for i := range records {
		ts := fmt.Sprintf("2026-10-12T09:30:%02d.%03dZ", i/1000, i%1000)
		fmt.Fprintf(&csv, "%d,%s,%d.50,%d,%d\n", i, ts, 60000+i, i, i%2)
		fmt.Fprintf(&lines, `{"seq":"%d","ts":"%s","px":"%d.50","qty":"%d","side":%d}`+"\n", i, ts, 60000+i, i, i%2)
	}
	s := testSchema(b)
	for name, in := range map[string]string{"csv": csv.String(), "jsonl": lines.String()} {
		b.Run("format="+name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			rec := make([]byte, s.Width())
			for b.Loop() {
				src, err := feed.New(strings.NewReader(in), s, feed.Options{})
				n := 0
				for ; err == nil; n++ {
					err = src.Next(rec)
				}
				if err != io.EOF || n != records+1 {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "rec/s")
		})
	}
}
