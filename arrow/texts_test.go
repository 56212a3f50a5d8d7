package arrow

import (
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// TestTexts: a field of any kind shows the texts of its numbers, and digits where
// a number has none, in both layouts, from the active segment and by positions.
func TestTexts(t *testing.T) {
	list := []string{"one", "", "drei", "four"}
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		s := every(t, schema.Nanosecond)
		texts := map[string][]string{"seq": list, "ts": list, "k": list, "nowhere": list}
		for i := range 8 {
			texts[s.Field(i).Name] = list
		}
		v := snapshot(t, filled(t, stream.Options{Schema: s, Capacity: 64, Layout: layout}, 210))
		recs := rows(t, v, v.First(), v.End())
		r := open(t, v, Options{Texts: texts, Allocator: mem})
		row, named := 0, 0
		for r.Next() {
			b := r.RecordBatch()
			for f := range s.NumFields() {
				col, isText := b.Column(2 + f).(*array.String)
				if want := f < 8; isText != want {
					t.Fatalf("column %s is text: %v, want %v", s.Field(f).Name, isText, want)
				}
				if !isText {
					continue
				}
				for i := range int(b.NumRows()) {
					rec := recs[(row+i)*s.Width():][:s.Width()]
					n, want := s.Int(rec, f), strconv.FormatInt(s.Int(rec, f), 10)
					switch {
					case n >= 1 && n <= 4:
						want, named = list[n-1], named+1
					case s.Field(f).Kind == schema.U64:
						want = strconv.FormatUint(uint64(n), 10)
					}
					if got := col.Value(i); got != want {
						t.Fatalf("record %d has %s %q, want %q", row+i, s.Field(f).Name, got, want)
					}
				}
			}
			row += int(b.NumRows())
		}
		if err := r.Err(); err != nil || row != 210 || named == 0 {
			t.Errorf("%d rows, %d texts, %v", row, named, err)
		}
		r.Release()
		raw := open(t, v, Options{Texts: texts, Raw: true, Allocator: mem})
		sameRows(t, s, raw, recs)
		raw.Release()
		c, err := NewConverter(s, Options{Texts: texts, Columns: []string{"b"}, Allocator: mem})
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Copy(segment.FromRows(s, 0, recs), []uint32{7, 3})
		if err != nil {
			t.Fatal(err)
		}
		want := s.Int(recs[3*s.Width():], 1)
		if got := b.Column(0).(*array.String).Value(1); got != strconv.FormatInt(want, 10) && got != list[max(want, 1)-1] {
			t.Errorf("by positions: %q of %d", got, want)
		}
		b.Release()
	}
}
