package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrSchema: a unit, a kind, a field or a set of fields breaks a rule. The
	// text says which, and all that are broken at once.
	ErrSchema = errors.New("ledger: bad schema")
	// ErrRange: a value does not fit its field. It is refused, never cut off.
	ErrRange = errors.New("ledger: value out of range")
	// ErrDecimal: a text is not a decimal number such as 64123.50.
	ErrDecimal = errors.New("ledger: not a decimal number")
)

// A RangeError names a value that does not fit. errors.Is finds ErrRange in it.
type RangeError struct {
	Field string // its name; "" where the value was given without a field
	Kind  Kind   // of the field
	Scale uint8  // decimals of Value; 0 where Value is the stored integer
	Value string // as given; a very long one is cut in the middle

	// TooFine: the value may lie in the range, but has more digits after the
	// point than Scale.
	TooFine bool
}

// Error says, for example, `ledger: qty: 70000 does not fit u16 (0 to 65535)`.
func (e *RangeError) Error() string {
	var b strings.Builder
	b.WriteString("ledger: ")
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Value)
	switch {
	case e.TooFine && e.Scale == 0:
		b.WriteString(" has decimals, the field has none")
	case e.TooFine:
		b.WriteString(" has more than " + decimals(e.Scale))
	default:
		b.WriteString(" does not fit " + e.Kind.String())
		if e.Scale > 0 {
			b.WriteString(" with " + decimals(e.Scale))
		}
		if e.Kind.valid() && e.Scale <= ScaleMax {
			low := FormatDecimal(e.Kind.min(), e.Scale)
			high := AppendDecimalUint(nil, e.Kind.max(), e.Scale)
			fmt.Fprintf(&b, " (%s to %s)", low, high)
		}
	}
	return b.String()
}

// Unwrap lets errors.Is find ErrRange.
func (e *RangeError) Unwrap() error { return ErrRange }

func decimals(scale uint8) string {
	if scale == 1 {
		return "1 decimal"
	}
	return strconv.Itoa(int(scale)) + " decimals"
}

// shorten keeps the text of an error short whatever the input was.
func shorten(s string) string {
	const half = 32
	if len(s) <= 2*half {
		return s
	}
	return s[:half] + "…" + s[len(s)-half:]
}
