package query

import (
	"math"
	"math/bits"
	"strings"
	"time"

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
		t, err := readTime(l.text, c.unit, l.pos)
		return t, err
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

// ParseTime reads a time as people write it: RFC 3339, a date (midnight, UTC), a
// number with a unit (1791800000000000us), or a bare number in the stream's own
// unit, which is refused outside of 1970 to 2200: it is more likely in another
// unit. The result is in unit u. What u can't express exactly, or int64 can't
// hold, is an error, which is ErrInvalid.
func ParseTime(u schema.Unit, s string) (int64, error) {
	n, err := readTime(s, u, 0)
	if err != nil {
		return 0, err
	}
	if n.out != 0 {
		return 0, badAt(0, "%s does not fit a time in %s", quote(s), u)
	}
	return int64(n.order ^ 1<<63), nil
}

var timeUnits = []struct {
	name string
	ns   uint64
}{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

func readTime(s string, u schema.Unit, pos int) (number, error) {
	if len(s) > 4 && s[4] == '-' && digits(s[:4]) {
		layout := time.RFC3339Nano
		if len(s) == len(time.DateOnly) {
			layout = time.DateOnly
		}
		t, err := time.Parse(layout, s)
		if err != nil {
			return number{}, badAt(pos, "%s is no time: want 2006-01-02T15:04:05Z", quote(s))
		}
		return placeTime(t, u, pos)
	}
	num := strings.TrimRight(s, "nuµms")
	per := uint64(0)
	for _, t := range timeUnits {
		if t.name == s[len(num):] {
			per = t.ns
		}
	}
	neg, mag, over, msg := readDecimal(num, 0)
	if msg != "" || per == 0 && num != s {
		return number{}, badAt(pos, "%s is no time: want RFC 3339 or a number, with or without ns, us, ms or s", quote(s))
	}
	own := 1_000_000_000 / uint64(u.PerSecond()) // ns in a unit of the stream
	if per == 0 {
		if limit := uint64(endOfSense) * uint64(u.PerSecond()); over || mag >= limit || neg && mag > 0 {
			return number{}, badAt(pos, "%s lies outside of 1970 to 2200 in %s: write its unit, as in %sus", quote(s), u, num)
		}
		return place(neg, mag, schema.I64), nil
	}
	hi, lo := bits.Mul64(mag, per)
	if over || hi >= own {
		return far(neg), nil
	}
	q, r := bits.Div64(hi, lo, own)
	if r != 0 {
		return number{}, badAt(pos, "%s is no whole number of %s", quote(s), u)
	}
	return place(neg, q, schema.I64), nil
}

// endOfSense is 2200-01-01 in Unix seconds.
const endOfSense = 7_258_118_400

func far(neg bool) number {
	if neg {
		return number{out: -1}
	}
	return number{out: 1}
}

// placeTime finds t among times in unit u.
func placeTime(t time.Time, u schema.Unit, pos int) (number, error) {
	per := u.PerSecond()
	own := 1_000_000_000 / per
	ns := int64(t.Nanosecond())
	if ns%own != 0 {
		return number{}, badAt(pos, "%s is no whole number of %s", t.Format(time.RFC3339Nano), u)
	}
	sec := t.Unix()
	if sec > math.MaxInt64/per {
		return far(false), nil
	}
	if sec < math.MinInt64/per {
		return far(true), nil
	}
	v := sec * per
	if sum := v + ns/own; sum >= v {
		return number{order: order(uint64(sum), true)}, nil
	}
	return far(false), nil
}
