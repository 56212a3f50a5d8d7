package segment_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"pgregory.net/rapid"
)

// drawSchema makes a schema of 0 to 16 fields of any kinds.
func drawSchema(t *rapid.T) *schema.Schema {
	fields := make([]schema.Field, rapid.IntRange(0, schema.MaxFields).Draw(t, "fields"))
	for i := range fields {
		fields[i] = schema.Field{
			Name:  string(rune('a'+i)) + "_0123456789"[:rapid.IntRange(0, 11).Draw(t, "name")],
			Kind:  schema.Kind(rapid.IntRange(1, 8).Draw(t, "kind")),
			Scale: uint8(rapid.IntRange(0, schema.ScaleMax).Draw(t, "scale")),
		}
	}
	s, err := schema.New(schema.Unit(rapid.IntRange(1, 3).Draw(t, "unit")), fields...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawRows makes records: up to two of the encoder's blocks and a bit, their
// values random, or of few kinds at the ends of the range.
func drawRows(t *rapid.T, s *schema.Schema) []byte {
	n := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(250, 530)).Draw(t, "records")
	first := rapid.OneOf(rapid.Uint64Range(0, math.MaxUint64-1000), rapid.Just(math.MaxUint64-uint64(n))).Draw(t, "first")
	r := newRand(rapid.Uint64().Draw(t, "seed"))
	rows := randomRows(s, r, first, n, rapid.Bool().Draw(t, "sorted"))
	if rapid.Bool().Draw(t, "extremes") {
		for i := range rows {
			rows[i] = []byte{0, 1, 0x7f, 0x80, 0xff}[rows[i]%5]
		}
		for i := range n {
			schema.PutSeq(rows[i*s.Width():], first+uint64(i))
		}
	}
	s.ClearPadding(rows)
	return rows
}

// facts is what a file says about its records, found the slow way.
type facts struct {
	min, max []int64 // ts, then the fields
	sorted   bool
}

func factsOf(s *schema.Schema, rows []byte) facts {
	f := facts{make([]int64, 1+s.NumFields()), make([]int64, 1+s.NumFields()), true}
	last := int64(math.MinInt64)
	for at := 0; at < len(rows); at += s.Width() {
		rec := rows[at : at+s.Width()]
		ts := schema.Time(rec)
		f.sorted = f.sorted && ts >= last
		last = ts
		for c := range f.min {
			v, unsigned := ts, false
			if c > 0 {
				v, unsigned = s.Int(rec, c-1), s.Field(c-1).Kind == schema.U64
			}
			below := func(a, b int64) bool {
				if unsigned {
					return uint64(a) < uint64(b)
				}
				return a < b
			}
			if at == 0 || below(v, f.min[c]) {
				f.min[c] = v
			}
			if at == 0 || below(f.max[c], v) {
				f.max[c] = v
			}
		}
	}
	return f
}

// TestEncode: whatever the schema, the layout and the records, what is encoded
// and opened again is the same records, bit for bit, and what the file says
// about them is true.
func TestEncode(t *testing.T) {
	var w segment.Writer // with leftovers of other images
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		rows := drawRows(t, s)
		layout := segment.Layout(rapid.IntRange(0, 1).Draw(t, "layout"))
		m := segment.Meta{Capacity: rapid.Uint32().Draw(t, "capacity"), Schema: s}
		copy(m.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		sealedAt := rapid.Int64().Draw(t, "sealed at")
		image, h, err := w.Encode(m, layout, rows, sealedAt, segment.FlagDurable)
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(len(rows) / s.Width())
		if size := segment.Size(s, layout, n); size != int64(len(image)) {
			t.Fatalf("%d bytes, Size says %d", len(image), size)
		}
		f, err := segment.Open(&memFS{data: image}, "x/"+segment.Name(h.First), s, s.Tag(m.ID))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Evict()
		if f.Header() != h || h.First != schema.Seq(rows) || h.Count != n || h.SealedAt != sealedAt {
			t.Fatalf("opened %+v, encoded %+v", f.Header(), h)
		}
		checkFacts(t, f, factsOf(s, rows))
		checkSelf(t, image, m, layout)
		checkRows(t, f, rows)
		if err := f.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func checkFacts(t *rapid.T, f *segment.File, want facts) {
	h, s := f.Header(), f.Schema()
	flags := segment.FlagDurable
	if want.sorted {
		flags |= segment.FlagSorted
	}
	if h.MinTime != want.min[0] || h.MaxTime != want.max[0] || h.Flags != flags {
		t.Fatalf("%+v, want times from %d to %d, flags %d", h, want.min[0], want.max[0], flags)
	}
	for field := segment.TimeField; field < s.NumFields(); field++ {
		lo, hi, ok := f.Bounds(field)
		if hasBounds := f.Layout() == segment.Columns || field == segment.TimeField; ok != hasBounds {
			t.Fatalf("field %d: bounds %v, want %v", field, ok, hasBounds)
		}
		if ok && (lo != want.min[field+1] || hi != want.max[field+1]) {
			t.Fatalf("field %d: bounds %d to %d, want %d to %d", field, lo, hi, want.min[field+1], want.max[field+1])
		}
	}
}

// checkSelf opens the file by its footer.
func checkSelf(t *rapid.T, image []byte, want segment.Meta, layout segment.Layout) {
	f, m, err := segment.OpenSelf(&memFS{data: image}, "self.seg")
	if layout == segment.Rows {
		if !errorIs(err, segment.ErrRows) {
			t.Fatalf("a row file opens itself: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if m.ID != want.ID || m.Capacity != want.Capacity || !m.Schema.Equal(want.Schema) || !f.Schema().Equal(want.Schema) {
		t.Fatalf("the footer says %+v", m)
	}
}

// checkRows reads the records in all ways and compares.
func checkRows(t *rapid.T, f *segment.File, rows []byte) {
	s := f.Schema()
	width := s.Width()
	whole, err := f.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	memory := segment.FromRows(s, schema.Seq(rows), rows)
	n := len(rows) / width
	lo := rapid.IntRange(0, n).Draw(t, "lo")
	hi := rapid.IntRange(lo, n).Draw(t, "hi")
	for _, g := range []segment.Segment{whole, memory, whole.Slice(lo, hi), memory.Slice(lo, hi)} {
		want := rows
		if g.Len() != n {
			want = rows[lo*width : hi*width]
		}
		got, err := g.Rows([]byte("kept"), 0, g.Len())
		if err != nil || string(got[:4]) != "kept" || !bytes.Equal(got[4:], want) {
			t.Fatalf("%d records: rows differ, %v", g.Len(), err)
		}
		if len(want) == 0 {
			continue
		}
		i := rapid.IntRange(0, g.Len()-1).Draw(t, "i")
		rec, err := g.Record([]byte("kept"), i)
		if err != nil || string(rec[:4]) != "kept" || !bytes.Equal(rec[4:], want[i*width:(i+1)*width]) {
			t.Fatalf("record %d differs, %v", i, err)
		}
		if g.First()+uint64(i) != schema.Seq(rec[4:]) {
			t.Fatalf("record %d has number %d, First is %d", i, schema.Seq(rec[4:]), g.First())
		}
		for field := range s.NumFields() {
			checkRaw(t, g, field, want)
		}
	}
}

func checkRaw(t *rapid.T, g segment.Segment, field int, rows []byte) {
	s := g.Schema()
	base, stride, kind, err := g.Raw(field)
	if err != nil {
		t.Fatal(err)
	}
	size := kind.Size()
	if kind != s.Field(field).Kind || len(base) != (g.Len()-1)*stride+size {
		t.Fatalf("field %d: kind %v, %d bytes", field, kind, len(base))
	}
	for i := range g.Len() {
		at := i*s.Width() + s.Offset(field)
		if !bytes.Equal(base[i*stride:i*stride+size], rows[at:at+size]) {
			t.Fatalf("field %d of record %d differs", field, i)
		}
	}
}

// TestEncodeClearsPadding: whatever stands in the padding of the rows, both
// layouts write and give back zeros, and the rows stay as they are.
func TestEncodeClearsPadding(t *testing.T) {
	s := goldenSchema(t)
	clean := goldenRows(t, s)
	dirty := bytes.Clone(clean)
	for i := range 3 {
		copy(dirty[i*s.Width()+17:], "\xff\xff\xff")
	}
	given := bytes.Clone(dirty)
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		want, _ := encode(t, segment.Meta{Schema: s}, layout, clean)
		got, _ := encode(t, segment.Meta{Schema: s}, layout, dirty)
		if !bytes.Equal(got, want) {
			t.Errorf("%v: padding changes the image", layout)
		}
	}
	if !bytes.Equal(dirty, given) {
		t.Error("Encode changed the rows")
	}
}

func TestEncodeRefuses(t *testing.T) {
	s := fillSchema(t)
	good := randomRows(s, newRand(1), 10, 600, false)
	gap := bytes.Clone(good)
	schema.PutSeq(gap[599*40:], 610)
	end := bytes.Clone(good[:80])
	schema.PutSeq(end, math.MaxUint64-1)
	schema.PutSeq(end[40:], math.MaxUint64)
	for _, tt := range []struct {
		name   string
		rows   []byte
		layout segment.Layout
		flags  uint32
		is     error
	}{
		{"no records", nil, segment.Columns, 0, segment.ErrRecords},
		{"part of a record", good[:79], segment.Columns, 0, segment.ErrRecords},
		{"a gap, columns", gap, segment.Columns, 0, segment.ErrRecords},
		{"a gap, rows", gap, segment.Rows, 0, segment.ErrRecords},
		{"the numbers run out", end, segment.Columns, 0, segment.ErrRecords},
		{"unknown flag", good, segment.Columns, 4, nil},
		{"unknown layout", good, 2, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w segment.Writer
			image, _, err := w.Encode(segment.Meta{Schema: s}, tt.layout, tt.rows, 0, tt.flags)
			if err == nil || image != nil || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%d bytes, %v; want %v", len(image), err, tt.is)
			}
		})
	}
}

// TestEncodeFlagSorted: the caller's word for it doesn't count.
func TestEncodeFlagSorted(t *testing.T) {
	s := fillSchema(t)
	for _, tt := range []struct {
		name  string
		times []int64
		want  uint32
	}{
		{"one", []int64{5}, segment.FlagSorted},
		{"equal", []int64{5, 5, 5}, segment.FlagSorted},
		{"from the least to the greatest", []int64{math.MinInt64, math.MaxInt64}, segment.FlagSorted},
		{"falling", []int64{5, 4}, 0},
		{"falling far", []int64{math.MaxInt64, math.MinInt64}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := randomRows(s, newRand(1), 0, len(tt.times), false)
			for i, ts := range tt.times {
				schema.PutTime(rows[i*40:], ts)
			}
			var w segment.Writer
			for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
				_, h, err := w.Encode(segment.Meta{Schema: s}, layout, rows, 0, segment.FlagSorted)
				if err != nil || h.Flags != tt.want {
					t.Errorf("%v: flags %d, %v", layout, h.Flags, err)
				}
			}
		})
	}
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	s := fillSchema(t)
	rows := randomRows(s, newRand(1), 0, 1000, true)
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		var w segment.Writer
		got := testing.AllocsPerRun(20, func() {
			if _, _, err := w.Encode(segment.Meta{Schema: s}, layout, rows, 0, 0); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("%v: %v allocations a seal", layout, got)
		}
	}
}
