package shapes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unsafe"

	"example.com/ledger/schema"
)

// structs has a value of each shape's struct, by the shape's name.
var structs = map[string]any{
	"fill":  Fill{},
	"order": Order{},
	"trade": Trade{},
	"mbo":   OrderEvent{},
	"quote": Quote{},
}

var goKinds = map[schema.Kind]reflect.Kind{
	schema.I8: reflect.Int8, schema.U8: reflect.Uint8, schema.I16: reflect.Int16, schema.U16: reflect.Uint16,
	schema.I32: reflect.Int32, schema.U32: reflect.Uint32, schema.I64: reflect.Int64, schema.U64: reflect.Uint64,
}

// TestOffsets pins the bytes of every shape. The first two are docs/format.md's.
// If it fails, streams in the field no longer fit the structs: add a shape
// instead of changing one.
func TestOffsets(t *testing.T) {
	want := map[string]string{
		"fill":  "40 ns px@16:i32:2 qty@20:i32 taker@24:u32 maker@28:u32 sym@32:u16 side@34:u8 flags@35:u8",
		"order": "40 ns px@16:i32:2 qty@20:i32 account@24:u32 client@28:u32 order@32:u32 sym@36:u16 kind@38:u8 side@39:u8",
		"trade": "96 ns px@16:i64:8 qty@24:i64:8 trade@32:u64 taker_order@40:u64 maker_order@48:u64 " +
			"venue_seq@56:u64 venue_ts@64:i64 taker_acct@72:u32 maker_acct@76:u32 flags@80:u32 sym@84:u32 " +
			"venue@88:u16 side@90:u8",
		"mbo": "96 ns px@16:i64:8 qty@24:i64:8 order@32:u64 prior@40:u64 client@48:u64 trade@56:u64 " +
			"venue_seq@64:u64 venue_ts@72:i64 account@80:u32 flags@84:u32 sym@88:u32 venue@92:u16 kind@94:u8 side@95:u8",
		"quote": "88 ns bid_px@16:i64:8 ask_px@24:i64:8 bid_qty@32:i64:8 ask_qty@40:i64:8 venue_seq@48:u64 " +
			"venue_ts@56:i64 bid_orders@64:u32 ask_orders@68:u32 flags@72:u32 sym@76:u32 venue@80:u16 level@82:u8",
	}
	if len(want) != len(Names()) {
		t.Fatalf("%d shapes, this table has %d", len(Names()), len(want))
	}
	for _, name := range Names() {
		s, _ := ByName(name)
		got := fmt.Sprintf("%d %v", s.Width(), s.Unit())
		for i, f := range s.Fields() {
			got += " " + strings.Replace(f.String(), ":", fmt.Sprintf("@%d:", s.Offset(i)), 1)
		}
		if got != want[name] {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want[name])
		}
	}
}

// TestStructs compares the memory of each struct with its schema: the same
// names, in the same order, at the same bytes, and padding written out where the
// schema has some and nowhere else.
func TestStructs(t *testing.T) {
	for _, name := range Names() {
		s, _ := ByName(name)
		typ := reflect.TypeOf(structs[name])
		if typ.Size() != uintptr(s.Width()) {
			t.Errorf("%s: %v has %d bytes, a record %d", name, typ, typ.Size(), s.Width())
		}
		want := []string{"seq@0 uint64", "ts@8 int64"}
		for i, f := range s.Fields() {
			want = append(want, fmt.Sprintf("%s@%d %v", strings.ReplaceAll(f.Name, "_", ""), s.Offset(i), goKinds[f.Kind]))
		}
		var got []string
		end := uintptr(0)
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Offset != end {
				t.Errorf("%s: padding before %v.%s is not written out", name, typ, f.Name)
			}
			end = f.Offset + f.Type.Size()
			if f.Name != "_" {
				got = append(got, fmt.Sprintf("%s@%d %v", strings.ToLower(f.Name), f.Offset, f.Type.Kind()))
			}
		}
		if end != typ.Size() {
			t.Errorf("%s: padding at the end of %v is not written out", name, typ)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
	}
}

// TestMemory fills structs with arbitrary values and reads their bytes through
// the schema, then writes those values to an empty record: it must be the same
// bytes.
func TestMemory(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the memory of a struct is a record on little-endian machines only")
	}
	check(t, FillSchema(), func(f *Fill) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(f)), unsafe.Sizeof(*f)) })
	check(t, OrderSchema(), func(f *Order) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(f)), unsafe.Sizeof(*f)) })
	check(t, TradeSchema(), func(f *Trade) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(f)), unsafe.Sizeof(*f)) })
	check(t, OrderEventSchema(), func(f *OrderEvent) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(f)), unsafe.Sizeof(*f)) })
	check(t, QuoteSchema(), func(f *Quote) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(f)), unsafe.Sizeof(*f)) })
}

func check[T any](t *testing.T, s *schema.Schema, memory func(*T) []byte) {
	same := func(seed int64) bool {
		var v T
		raw := memory(&v)
		rand.New(rand.NewSource(seed)).Read(raw)
		s.ClearPadding(raw)
		rec := make([]byte, s.Width())
		var fields []reflect.Value
		for i := range reflect.TypeFor[T]().NumField() {
			if reflect.TypeFor[T]().Field(i).Name != "_" {
				fields = append(fields, reflect.ValueOf(v).Field(i))
			}
		}
		schema.PutSeq(rec, fields[0].Uint())
		schema.PutTime(rec, fields[1].Int())
		for i, f := range fields[2:] {
			var err error
			if f.CanInt() {
				err = s.PutInt(rec, i, f.Int())
			} else {
				err = s.PutUint(rec, i, f.Uint())
			}
			if err != nil {
				t.Errorf("%T: %v", v, err)
			}
		}
		return slices.Equal(rec, raw)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Errorf("%v: %v", s, err)
	}
}

func TestByName(t *testing.T) {
	if want := []string{"fill", "order", "trade", "mbo", "quote"}; !slices.Equal(Names(), want) {
		t.Errorf("Names() = %v, want %v", Names(), want)
	}
	for i, s := range []*schema.Schema{FillSchema(), OrderSchema(), TradeSchema(), OrderEventSchema(), QuoteSchema()} {
		if got, ok := ByName(Names()[i]); !ok || got != s {
			t.Errorf("ByName(%q) = %v, %v, want %v", Names()[i], got, ok, s)
		}
	}
	for _, name := range []string{"", "Fill", "fill ", "fills"} {
		if s, ok := ByName(name); ok || s != nil {
			t.Errorf("ByName(%q) = %v, %v", name, s, ok)
		}
	}
	Names()[0] = "changed"
	if _, ok := ByName("fill"); !ok {
		t.Error("the caller of Names can change the names")
	}
}

func TestScaled(t *testing.T) {
	for _, c := range []struct {
		name    string
		px, qty uint8
		want    string
	}{
		{"fill", 2, 0, FillSchema().String()},
		{"order", 4, 0, "ns px:i32:4 qty:i32 account:u32 client:u32 order:u32 sym:u16 kind:u8 side:u8"},
		{"fill", 0, 18, "ns px:i32 qty:i32:18 taker:u32 maker:u32 sym:u16 side:u8 flags:u8"},
		{"trade", 8, 8, TradeSchema().String()},
		{"quote", 2, 5, strings.NewReplacer("px:i64:8", "px:i64:2", "qty:i64:8", "qty:i64:5").Replace(QuoteSchema().String())},
	} {
		s, err := Scaled(c.name, c.px, c.qty)
		if err != nil || s.String() != c.want {
			t.Errorf("Scaled(%q, %d, %d) = %v, %v, want %s", c.name, c.px, c.qty, s, err, c.want)
			continue
		}
		plain, _ := ByName(c.name)
		for i := range plain.NumFields() {
			if s.Offset(i) != plain.Offset(i) {
				t.Errorf("Scaled(%q): field %d moved to %d", c.name, i, s.Offset(i))
			}
		}
	}
	if f := FillSchema().Field(0); f.Scale != 2 {
		t.Errorf("Scaled changed the shared schema: %v", f)
	}
	for _, c := range []struct {
		name    string
		px, qty uint8
	}{{"fills", 2, 0}, {"fill", 19, 0}, {"quote", 0, 19}} {
		if s, err := Scaled(c.name, c.px, c.qty); !errors.Is(err, schema.ErrSchema) || s != nil {
			t.Errorf("Scaled(%q, %d, %d) = %v, %v, want ErrSchema", c.name, c.px, c.qty, s, err)
		}
	}
}
