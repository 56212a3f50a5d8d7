package schema

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestKinds pins the numbers of the kinds, which are on disk, and what they hold.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		kind   Kind
		number uint8
		text   string
		size   int
		signed bool
		min    int64
		max    uint64
	}{
		{I8, 1, "i8", 1, true, math.MinInt8, math.MaxInt8},
		{U8, 2, "u8", 1, false, 0, math.MaxUint8},
		{I16, 3, "i16", 2, true, math.MinInt16, math.MaxInt16},
		{U16, 4, "u16", 2, false, 0, math.MaxUint16},
		{I32, 5, "i32", 4, true, math.MinInt32, math.MaxInt32},
		{U32, 6, "u32", 4, false, 0, math.MaxUint32},
		{I64, 7, "i64", 8, true, math.MinInt64, math.MaxInt64},
		{U64, 8, "u64", 8, false, 0, math.MaxUint64},
	} {
		k := c.kind
		if uint8(k) != c.number || k.String() != c.text || k.Size() != c.size || k.Signed() != c.signed {
			t.Errorf("%v: number %d, %d bytes, signed %v; want %+v", k, uint8(k), k.Size(), k.Signed(), c)
		}
		if k.min() != c.min || k.max() != c.max {
			t.Errorf("%v: %d to %d, want %d to %d", k, k.min(), k.max(), c.min, c.max)
		}
		if got, err := ParseKind(c.text); got != k || err != nil {
			t.Errorf("ParseKind(%q) = %v, %v", c.text, got, err)
		}
	}
	for _, k := range []Kind{0, 9, 255} {
		if k.Size() != 0 || k.Signed() || !strings.HasPrefix(k.String(), "kind(") {
			t.Errorf("%v: %d bytes, signed %v", k, k.Size(), k.Signed())
		}
	}
	for _, s := range []string{"", "I32", "i32 ", "int32", "i128", "f64", "kind(0)", strings.Repeat("i", 1000)} {
		if k, err := ParseKind(s); k != 0 || !errors.Is(err, ErrSchema) || len(err.Error()) > 200 {
			t.Errorf("ParseKind(%.20q) = %v, %v, want ErrSchema", s, k, err)
		}
	}
}

// TestUnits pins the numbers of the units, which are on disk.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		unit   Unit
		number uint8
		text   string
		second int64
	}{{Nanosecond, 1, "ns", 1e9}, {Microsecond, 2, "us", 1e6}, {Millisecond, 3, "ms", 1e3}} {
		if uint8(c.unit) != c.number || c.unit.String() != c.text || c.unit.PerSecond() != c.second {
			t.Errorf("%v: number %d, %d a second; want %+v", c.unit, uint8(c.unit), c.unit.PerSecond(), c)
		}
		if got, err := ParseUnit(c.text); got != c.unit || err != nil {
			t.Errorf("ParseUnit(%q) = %v, %v", c.text, got, err)
		}
	}
	for _, u := range []Unit{0, 4, 255} {
		if u.PerSecond() != 0 || !strings.HasPrefix(u.String(), "unit(") {
			t.Errorf("%v: %d a second", u, u.PerSecond())
		}
	}
	for _, s := range []string{"", "s", "NS", "ns ", "µs", "unit(0)"} {
		if u, err := ParseUnit(s); u != 0 || !errors.Is(err, ErrSchema) {
			t.Errorf("ParseUnit(%q) = %v, %v, want ErrSchema", s, u, err)
		}
	}
}
