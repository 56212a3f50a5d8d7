package query

import (
	"math/bits"
	"strings"

	"example.com/ledger/schema"
)

// A number is a literal bound to a field: where it stands among the field's values.
type number struct {
	order uint64 // if it is one of them
	out   int8   // -1 below all of them, +1 above
}

// place finds sign*mag among the values of a kind.
func place(neg bool, mag uint64, k schema.Kind) number {
	d := domain(k)
	o := mag
	switch {
	case neg && mag > 0:
		if !k.Signed() || mag > 1<<63 {
			return number{out: -1}
		}
		o = 1<<63 - mag
	case k.Signed():
		if mag >= 1<<63 {
			return number{out: 1}
		}
		o = 1<<63 + mag
	}
	switch {
	case o < d.lo:
		return number{out: -1}
	case o > d.hi:
		return number{out: 1}
	}
	return number{order: o}
}

// bind finds the literal among the values of a column.
func (l literal) bind(c column) (number, error) {
	switch l.form {
	case formInt:
		return place(l.neg, l.mag, c.kind), nil
	case formTime:
		if c.id != colTime {
			return number{}, badAt(l.pos, "%s is no time", c.name)
		}
		return placeTime(l.at, c.unit, l.pos)
	}
	if c.id == colTime {
		t, msg := readTime(l.text, c.unit, false)
		if msg != "" {
			return number{}, badAt(l.pos, "%s", msg)
		}
		return t, nil
	}
	neg, mag, over, msg := readDecimal(l.text, c.scale)
	switch {
	case msg != "":
		return number{}, badAt(l.pos, "%s: %s %s", quote(l.text), c.name, msg)
	case over && neg:
		return number{out: -1}, nil
	case over:
		return number{out: 1}, nil
	}
	return place(neg, mag, c.kind), nil
}

// readDecimal reads a decimal times 10^scale. over means that it is more than a
// uint64. msg says what is wrong, if anything is.
func readDecimal(s string, scale uint8) (neg bool, mag uint64, over bool, msg string) {
	t := s
	if t != "" && (t[0] == '-' || t[0] == '+') {
		neg, t = t[0] == '-', t[1:]
	}
	whole, frac, point := strings.Cut(t, ".")
	if !digits(whole) || point && !digits(frac) {
		return false, 0, false, "wants a number"
	}
	if len(frac) > int(scale) {
		if scale == 0 {
			return false, 0, false, "has no decimals"
		}
		return false, 0, false, "has " + plural(int(scale), "decimal")
	}
	frac += "000000000000000000"[:int(scale)-len(frac)]
	for _, part := range []string{whole, frac} {
		for i := range len(part) {
			hi, lo := bits.Mul64(mag, 10)
			sum, carry := bits.Add64(lo, uint64(part[i]-'0'), 0)
			if hi+carry != 0 {
				over = true
			}
			mag = sum
		}
	}
	return neg, mag, over, ""
}

func plural(n int, what string) string {
	s := string(schema.AppendDecimal(nil, int64(n), 0)) + " " + what
	if n != 1 {
		s += "s"
	}
	return s
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
