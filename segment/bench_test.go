package segment_test

import (
	"context"
	"fmt"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

const benchRows = 65_536

func perRow(b *testing.B, rows int) {
	n := float64(rows) * float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/row")
}

func BenchmarkEncode(b *testing.B) {
	wide := make([]schema.Field, schema.MaxFields)
	for i := range wide {
		wide[i] = schema.Field{Name: fmt.Sprintf("f%d", i), Kind: schema.U64}
	}
	for _, shape := range []struct {
		name string
		s    *schema.Schema
	}{
		{"fill", fillSchema(b)},
		{"wide", mustSchema(b, wide...)},
	} {
		rows := randomRows(shape.s, newRand(1), 0, benchRows, true)
		for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
			b.Run(fmt.Sprintf("shape=%s/layout=%v/rows=%d", shape.name, layout, benchRows), func(b *testing.B) {
				var w segment.Writer
				m := segment.Meta{Capacity: benchRows, Schema: shape.s}
				b.SetBytes(int64(len(rows)))
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := w.Encode(m, layout, rows, 0, 0); err != nil {
						b.Fatal(err)
					}
				}
				perRow(b, benchRows)
			})
		}
	}
}

// benchFile writes n fills to a file and holds it until the benchmark ends.
func benchFile(b *testing.B, layout segment.Layout, n int) (*segment.File, segment.Segment) {
	b.Helper()
	s := fillSchema(b)
	f := writeFile(b, segment.Meta{Schema: s}, layout, randomRows(s, newRand(3), 0, n, true))
	g, err := f.Acquire()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Release(); f.Evict() })
	if err := f.Check(context.Background()); err != nil {
		b.Fatal(err)
	}
	return f, g
}

func BenchmarkColumn(b *testing.B) {
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		_, g := benchFile(b, layout, benchRows)
		for _, by := range []string{"at", "slice"} {
			if by == "slice" && layout == segment.Rows {
				continue
			}
			b.Run(fmt.Sprintf("layout=%v/by=%s", layout, by), func(b *testing.B) {
				b.SetBytes(4 * benchRows)
				var sum int64
				for b.Loop() {
					c, err := segment.ColumnOf[int32](g, "qty")
					if err != nil {
						b.Fatal(err)
					}
					if v, ok := c.Slice(); ok && by == "slice" {
						for _, x := range v {
							sum += int64(x)
						}
						continue
					}
					for i := range c.Len() {
						sum += int64(c.At(i))
					}
				}
				perRow(b, benchRows)
				_ = sum
			})
		}
	}
}

// BenchmarkRecord reads records at random, out of one file that stays in the
// cache or out of 10 million in 153 files.
func BenchmarkRecord(b *testing.B) {
	for _, files := range []uint64{1, 153} {
		for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
			benchRecord(b, layout, files)
		}
	}
}

func benchRecord(b *testing.B, layout segment.Layout, files uint64) {
	b.Run(fmt.Sprintf("layout=%v/files=%d", layout, files), func(b *testing.B) {
		open := make([]*segment.File, files)
		for i := range open {
			open[i], _ = benchFile(b, layout, benchRows)
		}
		r := newRand(5)
		rec := make([]byte, 0, 40)
		b.ReportAllocs()
		for b.Loop() {
			at := r.Uint64()
			f := open[at%files]
			g, err := f.Acquire()
			if err != nil {
				b.Fatal(err)
			}
			if rec, err = g.Record(rec[:0], int(at>>32%benchRows)); err != nil {
				b.Fatal(err)
			}
			f.Release()
		}
	})
}

func BenchmarkRows(b *testing.B) {
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		_, g := benchFile(b, layout, benchRows)
		b.Run(fmt.Sprintf("layout=%v/rows=%d", layout, benchRows), func(b *testing.B) {
			dst := make([]byte, 0, benchRows*40)
			b.SetBytes(benchRows * 40)
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = g.Rows(dst[:0], 0, g.Len()); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b, benchRows)
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	f, _ := benchFile(b, segment.Columns, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := segment.Open(disk.OS(), f.Path(), f.Schema(), f.Header().Tag); err != nil {
			b.Fatal(err)
		}
	}
}
