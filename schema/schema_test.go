package schema

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// TestLayout compares offsets and widths with those that Go itself gives to a
// struct of the same fields.
func TestLayout(t *testing.T) {
	if unsafe.Alignof(int64(0)) != 8 {
		t.Skip("where int64 isn't aligned to 8 bytes, Go lays structs out in another way")
	}
	goType := map[Kind]reflect.Type{
		I8: reflect.TypeFor[int8](), U8: reflect.TypeFor[uint8](), I16: reflect.TypeFor[int16](), U16: reflect.TypeFor[uint16](),
		I32: reflect.TypeFor[int32](), U32: reflect.TypeFor[uint32](), I64: reflect.TypeFor[int64](), U64: reflect.TypeFor[uint64](),
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		s := random(t, rng)
		fields := []reflect.StructField{{Name: "Seq", Type: goType[U64]}, {Name: "TS", Type: goType[I64]}}
		for i, f := range s.Fields() {
			fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: goType[f.Kind]})
		}
		typ := reflect.StructOf(fields)
		if s.Width() != int(typ.Size()) {
			t.Fatalf("%v: width %d, want %d", s, s.Width(), typ.Size())
		}
		size := headSize
		for i := range s.NumFields() {
			if s.Offset(i) != int(typ.Field(i+2).Offset) {
				t.Fatalf("%v: field %d at %d, want %d", s, i, s.Offset(i), typ.Field(i+2).Offset)
			}
			size += s.Field(i).Kind.Size()
		}
		if s.Padded() != (size < s.Width()) {
			t.Fatalf("%v: Padded is %v, width %d, fields %d", s, s.Padded(), s.Width(), size)
		}
	}
}

// random makes a valid schema.
func random(t testing.TB, rng *rand.Rand) *Schema {
	fields := make([]Field, rng.IntN(MaxFields+1))
	for i := range fields {
		fields[i] = Field{fmt.Sprintf("f_%d", i), I8 + Kind(rng.IntN(8)), uint8(rng.IntN(ScaleMax + 1))}
	}
	s, err := New(Nanosecond+Unit(rng.IntN(3)), fields...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWidths(t *testing.T) {
	many := func(n int, k Kind) (fields []Field) {
		for i := range n {
			fields = append(fields, Field{Name: fmt.Sprintf("f%d", i), Kind: k})
		}
		return fields
	}
	for _, c := range []struct {
		fields []Field
		width  int
		padded bool
	}{
		{nil, 16, false},
		{many(1, U8), 24, true},
		{many(8, U8), 24, false},
		{many(16, U8), 32, false},
		{many(16, I64), WidthMax, false},
		{[]Field{{"a", U8, 0}, {"b", I64, 0}}, 32, true},
		{[]Field{{"a", I64, 0}, {"b", U8, 0}}, 32, true},
		{[]Field{{"a", U8, 0}, {"b", U8, 0}, {"c", U16, 0}, {"d", U32, 0}}, 24, false},
	} {
		s, err := New(0, c.fields...)
		if err != nil || s.Width() != c.width || s.Padded() != c.padded || s.Unit() != Nanosecond {
			t.Errorf("%v: %v, width %d, padded %v; want %d, %v", s, err, s.Width(), s.Padded(), c.width, c.padded)
		}
	}
	if WidthMax != 144 {
		t.Errorf("WidthMax is %d", WidthMax)
	}
}

// TestNewRefuses: each broken rule is named, and all of them at once.
func TestNewRefuses(t *testing.T) {
	sixteen := make([]Field, 16)
	for i := range sixteen {
		sixteen[i] = Field{Name: fmt.Sprint("f", i), Kind: I8}
	}
	for _, c := range []struct {
		name   string
		unit   Unit
		fields []Field
		want   []string
	}{
		{"unit", 4, nil, []string{"unit(4) is no unit"}},
		{"many", 0, append(sixteen[:16:16], Field{"last", I8, 0}), []string{"17 fields, at most 16"}},
		{"no name", 0, []Field{{"", I8, 0}}, []string{`field 0 "": no name`}},
		{"long", 0, []Field{{"thirteen_byte", I8, 0}}, []string{`field 0 "thirteen_byte": a name has at most 12 bytes`}},
		{"seq", 0, []Field{{"seq", I8, 0}}, []string{`field 0 "seq": every record has one already`}},
		{"ts", 0, []Field{{"ts", I8, 0}}, []string{`field 0 "ts": every record has one already`}},
		{"upper", 0, []Field{{"Px", I8, 0}}, []string{`field 0 "Px": a name is made of a-z, 0-9 and _`}},
		{"inside", 0, []Field{{"a-b", I8, 0}}, []string{`field 0 "a-b": a name is made of a-z, 0-9 and _`}},
		{"zero byte", 0, []Field{{"a\x00", I8, 0}}, []string{`field 0 "a\x00": a name is made of a-z, 0-9 and _`}},
		{"utf8", 0, []Field{{"prix_é", I8, 0}}, []string{`field 0 "prix_é": a name is made of a-z, 0-9 and _`}},
		{"twice", 0, []Field{{"a", I8, 0}, {"b", I8, 0}, {"a", U8, 0}}, []string{`field 2 "a": the name of field 0`}},
		{"kind 0", 0, []Field{{"a", 0, 0}}, []string{`field 0 "a": kind(0) is no kind`}},
		{"kind 9", 0, []Field{{"a", 9, 0}}, []string{`field 0 "a": kind(9) is no kind`}},
		{"scale", 0, []Field{{"a", I64, 19}}, []string{`field 0 "a": scale 19, at most 18`}},
		{"all", 9, []Field{{"PX", 0, 19}, {"ts", I8, 0}, {"a", I8, 0}, {"a", 77, 0}}, []string{
			"unit(9)", `0 "PX": a name`, `0 "PX": kind(0)`, `0 "PX": scale 19`, `1 "ts"`, `3 "a": the name of field 2`, `3 "a": kind(77)`}},
	} {
		s, err := New(c.unit, c.fields...)
		if s != nil || !errors.Is(err, ErrSchema) {
			t.Errorf("%s: %v, %v, want ErrSchema", c.name, s, err)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(c.want) {
			t.Errorf("%s: %d problems, want %d: %v", c.name, len(lines), len(c.want), err)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(lines[i], "ledger: bad schema: ") || !strings.Contains(lines[i], want) {
				t.Errorf("%s: %q, want %q", c.name, lines[i], want)
			}
		}
	}
	if _, err := New(0, Field{strings.Repeat("x", 1e6), I8, 0}); len(err.Error()) > 300 {
		t.Errorf("a long name makes an error of %d bytes", len(err.Error()))
	}
	for _, name := range []string{"a", "_", "0", "px_2", "twelve_bytes", "seq_", "ts1"} {
		if _, err := New(0, Field{name, I8, 18}); err != nil {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

// TestImmutable: neither the caller's slice nor a copy handed out changes a schema.
func TestImmutable(t *testing.T) {
	fields := []Field{{"a", I8, 0}, {"b", U64, 3}}
	s, err := New(Millisecond, fields...)
	if err != nil {
		t.Fatal(err)
	}
	fields[0].Name = "changed"
	s.Fields()[1].Scale = 9
	if got := s.String(); got != "ms a:i8 b:u64:3" {
		t.Errorf("the schema is now %s", got)
	}
}

func TestIndex(t *testing.T) {
	s := fill(t)
	for i, f := range s.Fields() {
		if got, ok := s.Index(f.Name); got != i || !ok || s.Field(i) != f {
			t.Errorf("Index(%q) = %d, %v, want %d", f.Name, got, ok, i)
		}
	}
	for _, name := range []string{"", "seq", "ts", "PX", "px ", "p"} {
		if i, ok := s.Index(name); i != 0 || ok {
			t.Errorf("Index(%q) = %d, %v", name, i, ok)
		}
	}
}

func TestEqual(t *testing.T) {
	a, b := fill(t), fill(t)
	other := func(s *Schema, err error) *Schema {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var none *Schema
	if !a.Equal(b) || !b.Equal(a) || !none.Equal(nil) {
		t.Error("equal schemas are told apart")
	}
	for _, o := range []*Schema{
		nil,
		other(New(0)),
		other(a.WithUnit(Microsecond)),
		other(a.WithScale("qty", 1)),
		other(New(0, a.Fields()[:6]...)),
		other(New(0, append(a.Fields()[1:], a.Field(0))...)),
		other(New(0, append(a.Fields()[:6], Field{"flags", I8, 0})...)),
		other(New(0, append(a.Fields()[:6], Field{"flagz", U8, 0})...)),
	} {
		if a.Equal(o) || o.Equal(a) {
			t.Errorf("%v equals %v", a, o)
		}
		if o != nil && o.Tag([16]byte{}) == a.Tag([16]byte{}) {
			t.Errorf("%v has the tag of %v", o, a)
		}
	}
}

func TestWith(t *testing.T) {
	s := fill(t)
	if got, err := s.WithUnit(0); err != nil || !got.Equal(s) {
		t.Errorf("WithUnit(0) = %v, %v", got, err)
	}
	if got, err := s.WithUnit(7); !errors.Is(err, ErrSchema) {
		t.Errorf("WithUnit(7) = %v, %v, want ErrSchema", got, err)
	}
	if got, err := s.WithScale("qty", 3); err != nil || got.Field(1) != (Field{"qty", I32, 3}) || s.Field(1).Scale != 0 {
		t.Errorf("WithScale = %v, %v; the original is now %v", got, err, s)
	}
	for _, c := range []struct {
		name  string
		scale uint8
	}{{"seq", 1}, {"", 1}, {"qty", 19}} {
		if got, err := s.WithScale(c.name, c.scale); !errors.Is(err, ErrSchema) {
			t.Errorf("WithScale(%q, %d) = %v, %v, want ErrSchema", c.name, c.scale, got, err)
		}
	}
}
