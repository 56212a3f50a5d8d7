package query

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// onDisk makes a stream of rows in real files, all sealed and synced: a file that is
// not known to be on disk would be healed from its journal while that is there.
func onDisk(t *testing.T, recs []byte, layout segment.Layout) (dir string, st *stream.Stream) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	st, err := stream.Create(dir, stream.Options{Schema: allKinds, Durability: stream.Sealed, Capacity: 4096, Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	w := allKinds.Width()
	for len(recs) > 0 {
		n := min(len(recs), 4096*w)
		if _, _, err := st.Append(recs[:n]); err != nil {
			t.Fatal(err)
		}
		recs = recs[n:]
	}
	if err := st.Seal(); err != nil {
		t.Fatal(err)
	}
	return dir, st
}

// allQuestions asks every kind of question, and returns the first error of each.
func allQuestions(v *stream.Snapshot, f *Filter) map[string]error {
	ctx := context.Background()
	errs := map[string]error{}
	run := func(name string, q *Query, aggs ...Agg) {
		_, errs[name] = q.Run(ctx, aggs...)
	}
	run("sum", From(v), Sum("qty"))
	several := From(v).Workers(3)
	several.share = 1
	run("workers", several, VWAP("px", "qty"))
	run("where", From(v).Where(Gt("qty", 1)), Count())
	run("groups", From(v).By("d"), Sum("qty"))
	run("hash groups", From(v).By("h", "qty"), Count())
	for _, err := range From(v).Rows(ctx) {
		if err != nil {
			errs["rows"] = err
		}
	}
	for b, err := range v.Range(v.First(), v.End()) {
		if err == nil {
			_, err = f.Select(nil, b.Segment())
		}
		if err != nil {
			errs["filter"] = err
			break
		}
	}
	return errs
}

// TestDamage: a changed bit in a column is ErrCorrupt for those that read the
// column, and nothing for those that don't; a file cut short after it was mapped
// and checked is an error, and no crash.
func TestDamage(t *testing.T) {
	recs := makeRows(allKinds, 0, 12_000, "small", "sorted", 3)
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		f, err := NewFilter(allKinds, Gt("qty", 1))
		if err != nil {
			t.Fatal(err)
		}
		dir, st := onDisk(t, recs, layout)
		v, err := st.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range allQuestions(v, f) {
			if err != nil {
				t.Errorf("%v, whole: %s: %v", layout, name, err)
			}
		}
		// All columns have been checked, and are mapped. Now the files lose their ends.
		files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
		if err != nil || len(files) != 3 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		bad := files[1]
		whole, err := os.ReadFile(bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(bad, 8192); err != nil {
			t.Fatal(err)
		}
		for name, err := range allQuestions(v, f) {
			if !errors.Is(err, disk.ErrFault) && !errors.Is(err, disk.ErrCorrupt) {
				t.Errorf("%v, cut short: %s: %v, want a fault", layout, name, err)
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		// The last record's qty changes one bit.
		off := segment.HeaderSize + 4095*allKinds.Width() + allKinds.Offset(9)
		if layout == segment.Columns {
			off = segment.HeaderSize
			for c := -1; c < 9; c++ {
				size := 8
				if c >= 0 {
					size = allKinds.Field(c).Kind.Size()
				}
				off = (off + 4096*size + 63) &^ 63
			}
		}
		whole[off] ^= 4
		if err := os.WriteFile(bad, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := stream.OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		if v, err = r.Snapshot(); err != nil {
			t.Fatal(err)
		}
		for name, err := range allQuestions(v, f) {
			if !errors.Is(err, disk.ErrCorrupt) {
				t.Errorf("%v, changed: %s: %v, want ErrCorrupt", layout, name, err)
			}
		}
		if layout == segment.Columns {
			if _, err := From(v).Run(context.Background(), Sum("px")); err != nil {
				t.Errorf("a column beside the damaged one: %v", err)
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
