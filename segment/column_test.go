package segment_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

type price int32

// allKinds has one field of each kind, named as the kind is.
func allKinds(t testing.TB) *schema.Schema {
	var fields []schema.Field
	for k := schema.I8; k <= schema.U64; k++ {
		fields = append(fields, schema.Field{Name: k.String(), Kind: k})
	}
	return mustSchema(t, fields...)
}

// bothLayouts returns the same records in a column file, a row file, and memory.
func bothLayouts(t testing.TB, s *schema.Schema, rows []byte) map[string]segment.Segment {
	m := segment.Meta{Schema: s}
	return map[string]segment.Segment{
		"columns": acquire(t, writeFile(t, m, segment.Columns, rows)),
		"rows":    acquire(t, writeFile(t, m, segment.Rows, rows)),
		"memory":  segment.FromRows(s, schema.Seq(rows), rows),
	}
}

// TestColumnOf: a column of each kind reads as its own type, in all forms, and
// as no other.
func TestColumnOf(t *testing.T) {
	s := allKinds(t)
	rows := randomRows(s, newRand(2), 77, 300, true)
	for name, g := range bothLayouts(t, s, rows) {
		t.Run(name, func(t *testing.T) {
			testColumn[int8](t, g, rows, schema.I8)
			testColumn[uint8](t, g, rows, schema.U8)
			testColumn[int16](t, g, rows, schema.I16)
			testColumn[uint16](t, g, rows, schema.U16)
			testColumn[int32](t, g, rows, schema.I32)
			testColumn[uint32](t, g, rows, schema.U32)
			testColumn[int64](t, g, rows, schema.I64)
			testColumn[uint64](t, g, rows, schema.U64)
			testColumn[price](t, g, rows, schema.I32)
			c, err := segment.ColumnOf[int64](g, "ts")
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.Len() {
				if want := schema.Time(rows[i*s.Width():]); c.At(i) != want {
					t.Fatalf("ts of %d is %d, want %d", i, c.At(i), want)
				}
			}
		})
	}
}

func testColumn[T segment.Int](t *testing.T, g segment.Segment, rows []byte, kind schema.Kind) {
	t.Helper()
	s := g.Schema()
	if got := segment.KindOf[T](); got != kind {
		t.Errorf("KindOf is %v, want %v", got, kind)
	}
	for k := schema.I8; k <= schema.U64; k++ {
		_, err := segment.ColumnOf[T](g, k.String())
		if ok := err == nil; ok != (k == kind) || !ok && !errorIs(err, segment.ErrKind) {
			t.Errorf("%v as %v: %v", k, kind, err)
		}
	}
	c, err := segment.ColumnOf[T](g.Slice(10, 290), kind.String())
	if err != nil || c.Len() != 280 {
		t.Fatalf("%v: %d values, %v", kind, c.Len(), err)
	}
	v, ok := c.Slice()
	_, stride, _, err := g.Raw(segment.TimeField)
	if err != nil {
		t.Fatal(err)
	}
	if want := stride == 8 && (littleEndian || kind.Size() == 1); ok != want {
		t.Errorf("%v: Slice is %v", kind, ok)
	}
	field, _ := s.Index(kind.String())
	for i := range c.Len() {
		want := T(s.Int(rows[(i+10)*s.Width():], field))
		if c.At(i) != want || ok && v[i] != want {
			t.Fatalf("%v: value %d is %v, want %v", kind, i, c.At(i), want)
		}
	}
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func TestColumnOfUnknown(t *testing.T) {
	s := fillSchema(t)
	g := segment.FromRows(s, 0, randomRows(s, newRand(1), 0, 3, true))
	for _, name := range []string{"seq", "", "Px", "pxx"} {
		if _, err := segment.ColumnOf[uint64](g, name); !errorIs(err, segment.ErrField) {
			t.Errorf("%q: %v, want ErrField", name, err)
		}
	}
	_, err := segment.ColumnOf[uint64](g, "ts")
	if !errorIs(err, segment.ErrKind) || !strings.Contains(err.Error(), "ts is i64, not uint64") {
		t.Errorf("ts: %v", err)
	}
}

func TestOutOfRangePanics(t *testing.T) {
	s := fillSchema(t)
	rows := randomRows(s, newRand(1), 0, 10, true)
	for name, g := range bothLayouts(t, s, rows) {
		c, err := segment.ColumnOf[int32](g.Slice(2, 8), "px")
		if err != nil {
			t.Fatal(err)
		}
		g := g.Slice(2, 8)
		for what, f := range map[string]func(){
			"At(-1)":      func() { c.At(-1) },
			"At(6)":       func() { c.At(6) },
			"At(min)":     func() { c.At(math.MinInt) },
			"zero At(0)":  func() { segment.Column[int32]{}.At(0) },
			"Slice(-1,0)": func() { g.Slice(-1, 0) },
			"Slice(0,7)":  func() { g.Slice(0, 7) },
			"Slice(4,3)":  func() { g.Slice(4, 3) },
			"Record(6)":   func() { g.Record(nil, 6) },
			"Record(-1)":  func() { g.Record(nil, -1) },
			"Rows(5,7)":   func() { g.Rows(nil, 5, 7) },
			"FromRows":    func() { segment.FromRows(s, 0, rows[:79]) },
			"field 7":     func() { segment.ColumnAt[int32](g, 7) },
		} {
			if !panics(f) {
				t.Errorf("%s: %s doesn't panic", name, what)
			}
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func TestEmptySegment(t *testing.T) {
	s := fillSchema(t)
	rows := randomRows(s, newRand(1), 9, 10, true)
	segments := bothLayouts(t, s, rows)
	segments["no rows"] = segment.FromRows(s, 9, nil)
	for name, g := range segments {
		g := g.Slice(g.Len(), g.Len())
		c, err := segment.ColumnOf[int32](g, "px")
		if err != nil || c.Len() != 0 {
			t.Errorf("%s: %d values, %v", name, c.Len(), err)
		}
		if v, ok := c.Slice(); !ok || len(v) != 0 {
			t.Errorf("%s: Slice %v, %v", name, v, ok)
		}
		if got, err := g.Rows(nil, 0, 0); err != nil || len(got) != 0 {
			t.Errorf("%s: Rows %x, %v", name, got, err)
		}
		if base, _, _, err := g.Raw(0); err != nil || len(base) != 0 {
			t.Errorf("%s: Raw %x, %v", name, base, err)
		}
		g.WillNeed(0)
	}
}

// TestUnalignedRows: rows that begin anywhere in memory are all right, though
// Slice and loads want them aligned on some machines.
func TestUnalignedRows(t *testing.T) {
	s := allKinds(t)
	rows := randomRows(s, newRand(4), 5, 20, false)
	want, _ := encode(t, segment.Meta{Schema: s}, segment.Columns, rows)
	for shift := range 8 {
		moved := append(make([]byte, shift), rows...)[shift:]
		got, _ := encode(t, segment.Meta{Schema: s}, segment.Columns, moved)
		if string(got) != string(want) {
			t.Errorf("shift %d: another image", shift)
		}
		c, err := segment.ColumnOf[int64](segment.FromRows(s, 5, moved), "i64")
		if err != nil {
			t.Fatal(err)
		}
		if field, _ := s.Index("i64"); c.At(19) != s.Int(rows[19*s.Width():], field) {
			t.Errorf("shift %d: another value", shift)
		}
		g := acquire(t, writeFile(t, segment.Meta{Schema: s}, segment.Columns, rows))
		out, err := g.Rows(make([]byte, shift), 0, g.Len())
		if err != nil || string(out[shift:]) != string(rows) {
			t.Errorf("shift %d: other rows, %v", shift, err)
		}
	}
}

func TestReadingDoesNotAllocate(t *testing.T) {
	s := fillSchema(t)
	rows := randomRows(s, newRand(1), 0, 1000, true)
	dst := make([]byte, 0, len(rows))
	for name, g := range bothLayouts(t, s, rows) {
		for what, f := range map[string]func() error{
			"Record":   func() error { _, err := g.Record(dst, 77); return err },
			"Rows":     func() error { _, err := g.Rows(dst, 0, g.Len()); return err },
			"ColumnOf": func() error { _, err := segment.ColumnOf[int32](g, "qty"); return err },
		} {
			got := testing.AllocsPerRun(20, func() {
				if err := f(); err != nil {
					t.Fatal(err)
				}
			})
			if got != 0 {
				t.Errorf("%s: %v allocations a %s", name, got, what)
			}
		}
	}
}
