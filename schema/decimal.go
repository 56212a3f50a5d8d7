package schema

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

var pow10 = [ScaleMax + 1]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// FormatDecimal returns v / 10^scale, exactly, with scale digits after the
// point: 6412350 with scale 2 is "64123.50". It panics if scale is above 18.
func FormatDecimal(v int64, scale uint8) string {
	var b [24]byte
	return string(AppendDecimal(b[:0], v, scale))
}

// AppendDecimal appends what FormatDecimal returns.
func AppendDecimal(b []byte, v int64, scale uint8) []byte {
	u := uint64(v)
	if v < 0 {
		b = append(b, '-')
		u = -u
	}
	return AppendDecimalUint(b, u, scale)
}

// AppendDecimalUint is AppendDecimal for unsigned values.
func AppendDecimalUint(b []byte, v uint64, scale uint8) []byte {
	if scale == 0 {
		return strconv.AppendUint(b, v, 10)
	}
	unit := pow10[scale]
	b = strconv.AppendUint(b, v/unit, 10)
	point := len(b)
	// The 1 in front of the fraction keeps its leading zeros; the point takes its place.
	b = strconv.AppendUint(b, v%unit+unit, 10)
	b[point] = '.'
	return b
}

// ParseDecimal reads a decimal number such as "64123.50" or "-7" exactly: the
// result is the number times 10^scale, as a field of that kind holds it; for U64
// it is the bit pattern. The text is a sign or none, digits, and, if anything is
// to follow, a point and more digits. Any other text, exponents included, is
// ErrDecimal. More digits after the point than scale, be they zeros, and a value
// that the kind can't hold are a *RangeError, which is ErrRange. No kind, and a
// scale above 18, is ErrSchema.
func ParseDecimal(s string, kind Kind, scale uint8) (int64, error) {
	if !kind.valid() || scale > ScaleMax {
		return 0, fmt.Errorf("%w: %v with scale %d", ErrSchema, kind, scale)
	}
	digits, negative := s, false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits, negative = s[1:], s[0] == '-'
	}
	whole, fraction, point := strings.Cut(digits, ".")
	if !isDigits(whole) || point && !isDigits(fraction) {
		return 0, fmt.Errorf("%w: %q", ErrDecimal, shorten(s))
	}
	if len(fraction) > int(scale) {
		return 0, &RangeError{Kind: kind, Scale: scale, Value: shorten(s), TooFine: true}
	}
	u, ok := appendDigits(0, whole, true)
	u, ok = appendDigits(u, fraction, ok)
	high, u := bits.Mul64(u, pow10[int(scale)-len(fraction)])
	limit := kind.max()
	if negative {
		limit = -uint64(kind.min())
	}
	if !ok || high != 0 || u > limit {
		return 0, &RangeError{Kind: kind, Scale: scale, Value: shorten(s)}
	}
	if negative {
		u = -u
	}
	return int64(u), nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return s != ""
}

// appendDigits returns u with the decimal digits of s after its own. The result
// is false, and stays so, once that is more than a uint64 holds.
func appendDigits(u uint64, s string, ok bool) (uint64, bool) {
	for i := range len(s) {
		high, low := bits.Mul64(u, 10)
		sum, carry := bits.Add64(low, uint64(s[i]-'0'), 0)
		ok = ok && high == 0 && carry == 0
		u = sum
	}
	return u, ok
}

// TrimZeros drops the zeros that end the fraction of a decimal number, and the
// point if they were all of it: venues print more digits than their steps have,
// which ParseDecimal refuses. "64123.50000000" becomes "64123.5". Any other text
// is returned as it is.
func TrimZeros(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	if !isDigits(fraction) {
		return s
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		return whole
	}
	return s[:len(whole)+1+len(fraction)]
}

// AppendValue appends a value of the field as people read it, with all decimals
// of its scale. v is as Int returns it.
func (f Field) AppendValue(b []byte, v int64) []byte {
	if f.Kind == U64 {
		return AppendDecimalUint(b, uint64(v), f.Scale)
	}
	return AppendDecimal(b, v, f.Scale)
}

// ParseValue reads what AppendValue writes, as ParseDecimal does; PutBits takes
// the result. Its errors name the field.
func (f Field) ParseValue(s string) (int64, error) {
	v, err := ParseDecimal(s, f.Kind, f.Scale)
	if e, ok := err.(*RangeError); ok {
		e.Field = f.Name
	} else if err != nil {
		err = fmt.Errorf("%w, for %s", err, f.Name)
	}
	return v, err
}
