package schema

import (
	"fmt"
	"math"
	"strconv"
)

// A Unit is what a stream's timestamps count since 1970-01-01 UTC.
type Unit uint8

// Units are written to disk: never renumber one, never reuse a number.
const (
	Nanosecond  Unit = 1 // an int64 reaches from 1677 to 2262
	Microsecond Unit = 2
	Millisecond Unit = 3
)

var unitNames = [...]string{Nanosecond: "ns", Microsecond: "us", Millisecond: "ms"}

func (u Unit) valid() bool { return u >= Nanosecond && u <= Millisecond }

// String returns "ns", "us" or "ms".
func (u Unit) String() string {
	if !u.valid() {
		return "unit(" + strconv.Itoa(int(u)) + ")"
	}
	return unitNames[u]
}

// ParseUnit reads what String writes. Anything else is ErrSchema.
func ParseUnit(s string) (Unit, error) {
	for u := Nanosecond; u <= Millisecond; u++ {
		if s == unitNames[u] {
			return u, nil
		}
	}
	return 0, fmt.Errorf("%w: unit %q is none of ns, us, ms", ErrSchema, shorten(s))
}

// PerSecond returns how many of the unit make a second: 1e9, 1e6 or 1e3; 0 for
// no unit.
func (u Unit) PerSecond() int64 {
	switch u {
	case Nanosecond:
		return 1e9
	case Microsecond:
		return 1e6
	case Millisecond:
		return 1e3
	}
	return 0
}

// A Kind is the integer type of a field.
type Kind uint8

// Kinds are written to disk: never renumber one, never reuse a number.
const (
	I8  Kind = 1 // two's complement, as all signed kinds
	U8  Kind = 2
	I16 Kind = 3
	U16 Kind = 4
	I32 Kind = 5
	U32 Kind = 6
	I64 Kind = 7
	U64 Kind = 8
)

var kindNames = [...]string{
	I8: "i8", U8: "u8", I16: "i16", U16: "u16", I32: "i32", U32: "u32", I64: "i64", U64: "u64",
}

func (k Kind) valid() bool { return k >= I8 && k <= U64 }

// Size returns the width of a value in bytes: 1, 2, 4 or 8; 0 for no kind.
func (k Kind) Size() int {
	if !k.valid() {
		return 0
	}
	return 1 << ((k - 1) / 2)
}

// Signed tells whether the kind holds negative values.
func (k Kind) Signed() bool { return k&1 == 1 && k.valid() }

// String returns "i8", "u8", "i16" and so on.
func (k Kind) String() string {
	if !k.valid() {
		return "kind(" + strconv.Itoa(int(k)) + ")"
	}
	return kindNames[k]
}

// ParseKind reads what String writes. Anything else is ErrSchema.
func ParseKind(s string) (Kind, error) {
	for k := I8; k <= U64; k++ {
		if s == kindNames[k] {
			return k, nil
		}
	}
	return 0, fmt.Errorf("%w: kind %q is none of i8, u8, i16, u16, i32, u32, i64, u64", ErrSchema, shorten(s))
}

// min returns the smallest value of the kind.
func (k Kind) min() int64 {
	if !k.Signed() {
		return 0
	}
	return math.MinInt64 >> (64 - 8*k.Size())
}

// max returns the largest value of the kind.
func (k Kind) max() uint64 {
	m := uint64(math.MaxUint64) >> (64 - 8*k.Size())
	if k.Signed() {
		m >>= 1
	}
	return m
}
