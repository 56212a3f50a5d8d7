package arrow

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"example.com/ledger/query"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

func open(t testing.TB, v *stream.Snapshot, o Options) *Reader {
	t.Helper()
	r, err := NewReader(v, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReaderIsRange: every kind in every layout and unit, in batches of any size,
// is what Range reads, and all that was allocated is given back.
func TestReaderIsRange(t *testing.T) {
	for _, c := range []struct {
		name  string
		unit  schema.Unit
		l     segment.Layout
		o     Options
		count int // of batches
	}{
		{"columns", schema.Nanosecond, segment.Columns, Options{}, 4},
		{"rows", schema.Microsecond, segment.Rows, Options{}, 4},
		{"raw", schema.Millisecond, segment.Columns, Options{Raw: true}, 4},
		{"small", schema.Nanosecond, segment.Columns, Options{BatchRecords: 7}, 3*(64/7+1) + 3},
		{"range", schema.Nanosecond, segment.Columns, Options{From: 63, To: 129}, 3},
		{"none", schema.Nanosecond, segment.Columns, Options{From: 100, To: 100}, 0},
		{"beyond", schema.Nanosecond, segment.Columns, Options{From: 1000}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			sch := every(t, c.unit)
			v := snapshot(t, filled(t, stream.Options{Schema: sch, Capacity: 64, Layout: c.l}, 210))
			to := c.o.To
			if to == 0 {
				to = v.End()
			}
			c.o.Allocator = mem
			r := open(t, v, c.o)
			defer r.Release()
			if n := sameRows(t, sch, r, rows(t, v, c.o.From, to)); n != c.count {
				t.Errorf("%d batches, want %d", n, c.count)
			}
			if r.Next() || r.RecordBatch() != nil {
				t.Error("a batch after the last one")
			}
		})
	}
}

// TestTypes pins the Arrow types.
func TestTypes(t *testing.T) {
	for _, c := range []struct {
		unit schema.Unit
		raw  bool
		want string
	}{
		{schema.Nanosecond, false, "uint64 timestamp[ns, tz=UTC] int8 uint8 int16 uint16 int32 uint32 int64 uint64 " +
			"decimal(5, 5) decimal(5, 1) decimal(10, 2) decimal(19, 18) decimal(20, 9)"},
		{schema.Microsecond, true, "uint64 int64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 int8 uint16 int32 int64 uint64"},
	} {
		s := every(t, c.unit)
		conv, err := NewConverter(s, Options{Raw: c.raw})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range conv.Schema().Fields() {
			if f.Nullable {
				t.Errorf("%s may be null", f.Name)
			}
			got = append(got, f.Type.String())
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("types\n%s\nwant\n%s", g, c.want)
		}
		if text, _ := conv.Schema().Metadata().GetValue(MetadataKey); text != s.String() {
			t.Errorf("metadata %q, want %q", text, s)
		}
	}
	for u, want := range map[schema.Unit]string{schema.Microsecond: "timestamp[us, tz=UTC]", schema.Millisecond: "timestamp[ms, tz=UTC]"} {
		if got := timestamp(u, false).String(); got != want {
			t.Errorf("%v is %s, want %s", u, got, want)
		}
	}
}

// TestColumns: those asked for, in that order; others are an error.
func TestColumns(t *testing.T) {
	s := every(t, schema.Nanosecond)
	v := snapshot(t, filled(t, stream.Options{Schema: s, Capacity: 64}, 70))
	r := open(t, v, Options{Columns: []string{"k", "ts", "seq"}})
	defer r.Release()
	if !r.Next() {
		t.Fatal(r.Err())
	}
	b := r.RecordBatch()
	if b.NumCols() != 3 || b.ColumnName(0) != "k" || bits(t, b.Column(1), 5) != 5000 || bits(t, b.Column(2), 5) != 5 {
		t.Errorf("batch is %v", b)
	}
	for _, names := range [][]string{{"z"}, {"ts", "ts"}, {""}} {
		if _, err := NewReader(v, Options{Columns: names}); !errors.Is(err, segment.ErrField) {
			t.Errorf("columns %q: %v, want ErrField", names, err)
		}
	}
	if _, err := NewReader(v, Options{BatchRecords: -1}); !errors.Is(err, stream.ErrOption) {
		t.Errorf("negative batch: %v, want ErrOption", err)
	}
}

// TestWhere: what a filter keeps is what its Match keeps.
func TestWhere(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	s := every(t, schema.Nanosecond)
	v := snapshot(t, filled(t, stream.Options{Schema: s, Capacity: 64}, 210))
	for text, least := range map[string]int{"a > 0": 50, "k < 0.00 && h > 5": 50, "seq >= 130": 80, "seq > 1000": 0, "seq >= 0": 210} {
		p, err := query.ParseWhere(s, text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.NewFilter(s, p)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		all := rows(t, v, 0, v.End())
		for ; len(all) > 0; all = all[s.Width():] {
			if f.Match(all[:s.Width()]) {
				want = append(want, all[:s.Width()]...)
			}
		}
		if n := len(want) / s.Width(); n < least {
			t.Fatalf("%s keeps %d records, want %d: the test tests nothing", text, n, least)
		}
		r := open(t, v, Options{Where: f, Allocator: mem})
		sameRows(t, s, r, want)
		r.Release()
	}
}

// TestNothingIsCopied: columns of a sealed file are the file's own bytes.
func TestNothingIsCopied(t *testing.T) {
	s := every(t, schema.Nanosecond)
	full := filled(t, stream.Options{Schema: s, Capacity: 64}, 64+10)
	if err := full.Seal(); err != nil {
		t.Fatal(err)
	}
	v := snapshot(t, full)
	r := open(t, v, Options{Raw: true, Columns: []string{"ts", "e", "m"}, To: 64, BatchRecords: 40})
	defer r.Release()
	if !r.Next() || !r.Next() {
		t.Fatal(r.Err())
	}
	b := r.RecordBatch()
	for p := range v.Parts(0, 64) {
		g, err := p.Acquire()
		if err != nil {
			t.Fatal(err)
		}
		for i, number := range []int{segment.TimeField, 4, 12} {
			base, _, kind, err := g.Raw(number)
			if err != nil {
				t.Fatal(err)
			}
			got := b.Column(i).Data().Buffers()[1].Bytes()
			if want := base[40*kind.Size():]; len(got) != len(want) || &got[0] != &want[0] {
				t.Errorf("column %s is a copy", b.ColumnName(i))
			}
		}
		p.Release()
	}
}

// TestBatchesOutliveAll: a batch that was retained shows its records after the
// reader, the snapshot, the segment and the stream are gone, and lets go then.
func TestBatchesOutliveAll(t *testing.T) {
	sch := every(t, schema.Nanosecond)
	s := filled(t, stream.Options{Schema: sch, Capacity: 64}, 100)
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	v, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	want := rows(t, v, 0, 100)
	before := segment.Maps()
	r := open(t, v, Options{})
	var kept []apache.RecordBatch
	for r.Next() {
		r.RecordBatch().Retain()
		kept = append(kept, r.RecordBatch())
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	r.Retain()
	r.Release()
	r.Release()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Retain(retention.Policy{BeforeSeq: 100}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ts := kept[0].Column(1)
	ts.Retain()
	rest := want
	for _, b := range kept {
		for i := range int(b.NumRows()) {
			sameRecord(t, sch, b, i, rest[:sch.Width()])
			rest = rest[sch.Width():]
		}
		b.Release()
	}
	if len(kept) != 2 || len(rest) > 0 {
		t.Fatalf("%d batches, %d bytes of records not seen", len(kept), len(rest))
	}
	if got := bits(t, ts, 63); got != 63000 { // an array holds the file, too
		t.Errorf("ts of record 63 is %d, want 63000", got)
	}
	ts.Release()
	if n := segment.Maps(); n > before {
		t.Errorf("%d files are mapped, %d before", n, before)
	}
}

// TestReadingIsLeft: a reader that is released in the middle gives all back.
func TestReadingIsLeft(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	s := every(t, schema.Nanosecond)
	v := snapshot(t, filled(t, stream.Options{Schema: s, Capacity: 64}, 210))
	r := open(t, v, Options{Allocator: mem, BatchRecords: 10})
	if !r.Next() {
		t.Fatal(r.Err())
	}
	r.Release()
	r = open(t, v, Options{Allocator: mem})
	r.Release()
}

// TestDropped: a range that is gone in between ends the reading, unless somebody
// wants to be told.
func TestDropped(t *testing.T) {
	sch := every(t, schema.Nanosecond)
	s := filled(t, stream.Options{Schema: sch, Capacity: 64}, 0)
	for i := range 3 {
		rec := batch(sch, 0, 1)
		schema.PutTime(rec, int64(2-i%2)) // 2, 1, 2
		if _, _, err := s.Append(rec); err != nil {
			t.Fatal(err)
		}
		if err := s.Seal(); err != nil {
			t.Fatal(err)
		}
	}
	before := int64(2)
	if _, err := s.Retain(retention.Policy{BeforeTime: &before}, false); err != nil {
		t.Fatal(err)
	}
	v := snapshot(t, s)
	r := open(t, v, Options{})
	defer r.Release()
	if !r.Next() || r.Next() || !errors.Is(r.Err(), stream.ErrDropped) {
		t.Errorf("reading ended with %v, want ErrDropped", r.Err())
	}
	var gone []stream.DroppedError
	q := open(t, v, Options{Dropped: func(d *stream.DroppedError) { gone = append(gone, *d) }})
	defer q.Release()
	sameRows(t, sch, q, append(rows(t, v, 0, 1), rows(t, v, 2, 3)...))
	if len(gone) != 1 || gone[0].From != 1 || gone[0].To != 2 {
		t.Errorf("told of %v, want [1, 2)", gone)
	}
}

// TestErrors: damage of a column that is read, and a snapshot that was closed.
func TestErrors(t *testing.T) {
	sch := every(t, schema.Nanosecond)
	s := filled(t, stream.Options{Schema: sch, Capacity: 64}, 64)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	dir := s.Info().Dir
	path := filepath.Join(dir, segment.Name(0))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[64] ^= 1 // ts of record 0
	if err := os.WriteFile(path, b, 0o640); err != nil {
		t.Fatal(err)
	}
	reader, err := stream.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	v, err := reader.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	r := open(t, v, Options{Allocator: mem})
	if r.Next() || !errors.Is(r.Err(), stream.ErrCorrupt) {
		t.Errorf("reading damage: %v, want ErrCorrupt", r.Err())
	}
	r.Release()
	mem.AssertSize(t, 0)
	r = open(t, v, Options{Columns: []string{"seq", "a", "k"}})
	if !r.Next() {
		t.Errorf("reading other columns: %v", r.Err())
	}
	r.Release()
	r = open(t, v, Options{})
	defer r.Release()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if r.Next() || !errors.Is(r.Err(), stream.ErrClosed) {
		t.Errorf("reading a closed snapshot: %v, want ErrClosed", r.Err())
	}
}

// TestCopyOfATail: a Converter shows batches of rows, whole and in part.
func TestCopyOfATail(t *testing.T) {
	s := every(t, schema.Nanosecond)
	conv, err := NewConverter(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	recs := batch(s, 0, 20)
	for i := range 20 {
		schema.PutSeq(recs[i*s.Width():], uint64(7+i))
	}
	g := segment.FromRows(s, 7, recs)
	for _, at := range [][]uint32{nil, {}, {3}, {0, 19}} {
		b, err := conv.Copy(g, at)
		if err != nil {
			t.Fatal(err)
		}
		n := len(at)
		if at == nil {
			n = 20
		}
		if b.NumRows() != int64(n) {
			t.Errorf("%d rows at %v", b.NumRows(), at)
		}
		for i := range n {
			k := i
			if at != nil {
				k = int(at[i])
			}
			sameRecord(t, s, b, i, recs[k*s.Width():(k+1)*s.Width()])
		}
		b.Release()
	}
}

// TestIPC: what Arrow's own writer and reader make of the batches is the same.
func TestIPC(t *testing.T) {
	sch := every(t, schema.Microsecond)
	v := snapshot(t, filled(t, stream.Options{Schema: sch, Capacity: 64}, 210))
	r := open(t, v, Options{BatchRecords: 50})
	defer r.Release()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(r.Schema()))
	for r.Next() {
		if err := w.Write(r.RecordBatch()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Err(), w.Close()); err != nil {
		t.Fatal(err)
	}
	back, err := ipc.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Release()
	if !back.Schema().Equal(r.Schema()) {
		t.Errorf("schema %v, want %v", back.Schema(), r.Schema())
	}
	var _ array.RecordReader = back
	sameRows(t, sch, back, rows(t, v, 0, v.End()))
}
