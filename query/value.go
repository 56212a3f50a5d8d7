package query

import (
	"math"
	"math/big"
	"strconv"

	"example.com/ledger/schema"
)

// A Value is one exact number of a result: an integer, a decimal, or a quotient
// of two (an average), which is rounded only when it is printed, and once. It
// may also be null: the smallest of no records, or a VWAP without volume. The
// zero Value is null.
type Value struct {
	num    wide
	den    wide // of a quotient; else 0
	set    bool // not null
	scale  uint8
	digits uint8 // decimals of a quotient's text
}

// intValue returns num / 10^scale.
func intValue(num wide, scale uint8) Value {
	return Value{num: num, set: true, scale: scale, digits: scale}
}

// quotient returns num / den / 10^scale, null if den is 0.
func quotient(num, den wide, scale, digits uint8) Value {
	switch den.sign() {
	case 0:
		return Value{digits: digits}
	case -1:
		num, den = num.neg(), den.neg()
	}
	return Value{num: num, den: den, set: true, scale: scale, digits: digits}
}

// IsNull reports whether there is no value.
func (v Value) IsNull() bool { return !v.set }

// Int64 returns the value as it stands in a field: 6412350 for 64123.50 with
// scale 2. It is false for null, for a quotient, and where int64 can't hold it.
func (v Value) Int64() (int64, bool) {
	if !v.set || v.den != (wide{}) {
		return 0, false
	}
	return v.num.int64()
}

// Uint64 is Int64 for values that are not negative.
func (v Value) Uint64() (uint64, bool) {
	if !v.set || v.den != (wide{}) || v.num[1]|v.num[2] != 0 {
		return 0, false
	}
	return v.num[0], true
}

// Scale returns the decimals of the field that Int64 and Uint64 are in.
func (v Value) Scale() uint8 { return v.scale }

// Rat returns the exact value, or nil for null.
func (v Value) Rat() *big.Rat {
	if !v.set {
		return nil
	}
	den := pow10(v.scale)
	if v.den != (wide{}) {
		den.Mul(den, v.den.big())
	}
	return new(big.Rat).SetFrac(v.num.big(), den)
}

// Float64 returns the nearest float64, for charts; null is NaN.
func (v Value) Float64() float64 {
	if !v.set {
		return math.NaN()
	}
	f, _ := v.Rat().Float64()
	return f
}

// Cmp compares two values exactly. Null is less than every number.
func (v Value) Cmp(o Value) int {
	switch {
	case !v.set || !o.set:
		if v.set {
			return 1
		}
		if o.set {
			return -1
		}
		return 0
	case v.den == o.den && v.scale == o.scale:
		return v.num.cmp(o.num)
	}
	return v.Rat().Cmp(o.Rat())
}

// String returns the value as people read it, with all its decimals; null is "".
func (v Value) String() string { return string(v.Append(nil)) }

// Append appends what String returns.
func (v Value) Append(b []byte) []byte { return v.append(b, v.scale) }

// AppendRaw appends the value as it stands in a field, without the decimal point
// of its scale: 6412350 for 64123.50. A quotient keeps the digits behind that.
func (v Value) AppendRaw(b []byte) []byte { return v.append(b, 0) }

// append prints num/den/10^scale with as many digits less as scale is less than v's.
func (v Value) append(b []byte, scale uint8) []byte {
	if !v.set {
		return b
	}
	if v.den == (wide{}) {
		if n, ok := v.num.int64(); ok && scale <= schema.ScaleMax {
			return schema.AppendDecimal(b, n, scale)
		}
		return appendBig(b, v.num.big(), scale)
	}
	more := v.digits - v.scale
	return appendBig(b, v.round(more), scale+more)
}

// Digits returns the decimals that String prints.
func (v Value) Digits() uint8 { return v.digits }

// round returns the quotient times 10^more, rounded to the nearest integer, to
// the even one of two.
func (v Value) round(more uint8) *big.Int {
	num, den := v.num.big(), v.den.big()
	num.Mul(num, pow10(more))
	return divHalfEven(num, den)
}

// divHalfEven returns num/den for den > 0, rounded half to even. It changes num.
func divHalfEven(num, den *big.Int) *big.Int {
	neg := num.Sign() < 0
	q, r := new(big.Int).QuoRem(num.Abs(num), den, new(big.Int))
	switch r.Lsh(r, 1).Cmp(den) {
	case 1:
		q.Add(q, one)
	case 0:
		q.Add(q, new(big.Int).SetUint64(uint64(q.Bit(0))))
	}
	if neg {
		q.Neg(q)
	}
	return q
}

var one = big.NewInt(1)

func pow10(n uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// appendBig prints z / 10^scale.
func appendBig(b []byte, z *big.Int, scale uint8) []byte {
	s := z.String()
	if z.Sign() < 0 {
		b = append(b, '-')
		s = s[1:]
	}
	for len(s) <= int(scale) {
		s = "000000000000000000"[:min(18, int(scale)+1-len(s))] + s
	}
	b = append(b, s[:len(s)-int(scale)]...)
	if scale > 0 {
		b = append(b, '.')
		b = append(b, s[len(s)-int(scale):]...)
	}
	return b
}

// A Column says what a column of a Result, or of Rows, holds.
type Column struct {
	Name  string
	Kind  schema.Kind // of the field; 0 for what isn't one field's value: a sum, a count, an average
	Scale uint8       // decimals of the field; of a quotient, those that are printed
	Time  bool        // a time or the begin of an interval, in the stream's unit
}

// String returns the name.
func (c Column) String() string { return c.Name }

// fieldValue returns a field's value, as its bits say.
func fieldValue(bits uint64, kind schema.Kind, scale uint8) Value {
	return intValue(wideBits(bits, kind.Signed()), scale)
}

func quote(s string) string { return strconv.Quote(s) }
