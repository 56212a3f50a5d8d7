package segment_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A file is encoded, written, opened and read by column and by record.
func Example() {
	s, err := schema.New(schema.Millisecond,
		schema.Field{Name: "px", Kind: schema.I32, Scale: 2},
		schema.Field{Name: "qty", Kind: schema.U16},
	)
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]byte, 3*s.Width())
	for i := range 3 {
		rec := rows[i*s.Width():]
		schema.PutSeq(rec, uint64(100+i))
		schema.PutTime(rec, 1_700_000_000_000+int64(i))
		s.PutInt(rec, 0, int64(64_123_50+i))
		s.PutInt(rec, 1, int64(7*i))
	}

	dir, err := os.MkdirTemp("", "segment")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var w segment.Writer
	image, h, err := w.Encode(segment.Meta{Capacity: 3, Schema: s}, segment.Columns, rows, 1_700_000_000_500, 0)
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, segment.Name(h.First))
	if err := os.WriteFile(path, image, 0o640); err != nil {
		log.Fatal(err)
	}

	f, err := segment.Open(disk.OS(), path, s, h.Tag)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Evict()
	lo, hi, _ := f.Bounds(1)
	fmt.Println(filepath.Base(path), "qty from", lo, "to", hi)

	g, err := f.Acquire() // the file is mapped now
	if err != nil {
		log.Fatal(err)
	}
	defer f.Release()
	px, err := segment.ColumnOf[int32](g, "px")
	if err != nil {
		log.Fatal(err)
	}
	for i := range px.Len() {
		fmt.Println(g.First()+uint64(i), schema.FormatDecimal(int64(px.At(i)), 2))
	}
	rec, err := g.Record(nil, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(schema.Seq(rec), schema.Time(rec), s.Int(rec, 1))
	// Output:
	// 00000000000000000100.seg qty from 0 to 14
	// 100 64123.50
	// 101 64123.51
	// 102 64123.52
	// 102 1700000000002 14
}

// Rows in memory look like those of a file.
func ExampleFromRows() {
	s, err := schema.New(schema.Nanosecond, schema.Field{Name: "qty", Kind: schema.I64})
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]byte, 4*s.Width())
	for i := range 4 {
		schema.PutSeq(rows[i*s.Width():], uint64(i))
		s.PutInt(rows[i*s.Width():], 0, int64(i*i))
	}
	qty, err := segment.ColumnOf[int64](segment.FromRows(s, 0, rows).Slice(1, 4), "qty")
	if err != nil {
		log.Fatal(err)
	}
	_, together := qty.Slice()
	fmt.Println(qty.At(0), qty.At(1), qty.At(2), together)
	// Output: 1 4 9 false
}
