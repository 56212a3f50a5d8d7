package query

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"example.com/ledger/schema"
)

// ParseTime reads a time as people write it: RFC 3339, a date (its first instant
// in UTC), a number with one of the units ns, us, ms and s, counted from 1970
// (1791800000000000us, -1.5s), or a bare number, which is in the stream's own unit
// and refused outside of 1970 to 2200: it is more likely in another unit. The
// result is in unit u. What u can't express exactly, or int64 can't hold, is an
// error, which is ErrInvalid.
func ParseTime(u schema.Unit, s string) (int64, error) { return parseTime(u, s, false) }

// ParseBound reads a time like ParseTime, but rounds one that is finer than u up.
// So both ends of a half-open range keep exactly the times that they mean.
func ParseBound(u schema.Unit, s string) (int64, error) { return parseTime(u, s, true) }

func parseTime(u schema.Unit, s string, up bool) (int64, error) {
	n, msg := readTime(s, u, up)
	if msg == "" && n.out != 0 {
		msg = fmt.Sprintf("%s is not a time: 64 bits of %s can't reach it", quote(s), u)
	}
	if msg != "" {
		return 0, badAt(0, "%s", msg)
	}
	return int64(order(n.order, true)), nil
}

// perSecond is how many of each unit that may be written make a second.
var perSecond = map[string]int64{"ns": 1e9, "us": 1e6, "µs": 1e6, "ms": 1e3, "s": 1}

// countMax is the length of the longest number with a unit that is looked at, in
// bytes: a longer one is no time.
const countMax = 64

// readTime finds a time among those in unit u; up rounds one that is finer. msg
// says what is wrong with it, if anything is.
func readTime(s string, u schema.Unit, up bool) (n number, msg string) {
	count, unit := cutNumber(s)
	per, known := perSecond[unit]
	form, fine := s, false
	switch {
	case count == "":
	case unit == "":
		return bareTime(s, u)
	case known && len(count) <= countMax:
		n, fine = countTime(count, per, u, up)
		return n, tooFine(s, u, fine)
	case hasForm(s, "0000-00-00"):
		form += "T00:00:00Z"
		fallthrough
	case strings.Contains(s, ":"):
		sec, frac, ok := cutRFC3339(form)
		if !ok {
			return n, quote(s) + " is not a time: write RFC 3339, as in 2026-10-12T09:30:00Z"
		}
		n, fine = joinTime(sec, frac, u, up)
		return n, tooFine(s, u, fine)
	}
	return n, quote(s) + " is not a time: write RFC 3339 (2026-10-12T09:30:00Z) or a number with ns, us, ms or s"
}

func tooFine(s string, u schema.Unit, fine bool) string {
	if !fine {
		return ""
	}
	return fmt.Sprintf("time %s has more digits than can be kept: the stream counts %s", quote(s), u)
}

// cutNumber cuts s behind the number that it begins with: an optional minus sign,
// digits, and at most one point between digits. There may be none.
func cutNumber(s string) (count, rest string) {
	i, point := 0, false
	if strings.HasPrefix(s, "-") {
		i++
	}
	begin := i
	for ; i < len(s); i++ {
		if s[i] == '.' && !point && i > begin && i+1 < len(s) && isDigit(s[i+1]) {
			point = true
		} else if !isDigit(s[i]) {
			break
		}
	}
	if i == begin {
		return "", s
	}
	return s[:i], s[i:]
}

// Bare numbers are believed from 1970 up to this, in seconds: outside, the unit
// is more likely wrong than the year.
const believedEnd = 7_258_118_400 // 2200-01-01T00:00:00Z

func believable(ts, per int64) bool { return ts >= 0 && ts/per < believedEnd }

// bareTime believes a number without a unit, or says which unit it may be in.
func bareTime(s string, u schema.Unit) (n number, msg string) {
	ts, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return n, fmt.Sprintf("%s is not a time: a bare number must be a whole number of %s that fits 64 bits", quote(s), u)
	}
	if believable(ts, u.PerSecond()) {
		return timeNumber(ts), ""
	}
	for _, name := range []string{"ns", "us", "ms", "s"} {
		if per := perSecond[name]; per != u.PerSecond() && believable(ts, per) && ts/per > 365*86400 {
			return n, fmt.Sprintf("time %d lies outside 1970–2200 in %s, the stream's unit; if it is in %s, write %d%s", ts, u, name, ts, name)
		}
	}
	return n, fmt.Sprintf("time %d lies outside 1970–2200 in %s, the stream's unit; if it is meant, write %d%s", ts, u, ts, u)
}

// countTime finds count/per seconds since 1970. fine tells that u can't express
// it, and that it was not to be rounded up.
func countTime(count string, per int64, u schema.Unit, up bool) (n number, fine bool) {
	r, _ := new(big.Rat).SetString(count) // cutNumber saw to it that it is one
	r.Mul(r, big.NewRat(u.PerSecond(), per))
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int)) // rounds down: Denom is positive
	if m.Sign() != 0 {
		if !up {
			return n, true
		}
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() {
		return far(q.Sign() < 0), false
	}
	return timeNumber(q.Int64()), false
}

// cutRFC3339 returns the seconds since 1970 and the digits behind the point. It
// is strict about the form: the standard library's parser lets hours of a single
// digit pass, and drops digits behind the ninth.
func cutRFC3339(s string) (sec int64, frac string, ok bool) {
	const form = "0000-00-00T00:00:00"
	if len(s) <= len(form) || !hasForm(s[:len(form)], form) {
		return 0, "", false
	}
	year, month, day := pair(s)*100+pair(s[2:]), pair(s[5:]), pair(s[8:])
	hour, minute, second := pair(s[11:]), pair(s[14:]), pair(s[17:])
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	// Date carries over what is too much: 31 February becomes another day.
	ok = hour < 24 && minute < 60 && second < 60 && t.Day() == day && t.Month() == time.Month(month)
	zone := s[len(form):]
	if zone[0] == '.' {
		n := 1
		for n < len(zone) && isDigit(zone[n]) {
			n++
		}
		frac, zone = zone[1:n], zone[n:]
		if frac == "" {
			return 0, "", false
		}
	}
	east, zoneOK := zoneSeconds(zone)
	return t.Unix() - east, frac, ok && zoneOK
}

// pair reads the two digits that s begins with.
func pair(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

// zoneSeconds reads Z, +02:00 or -05:30.
func zoneSeconds(zone string) (int64, bool) {
	if zone == "Z" {
		return 0, true
	}
	if !hasForm(zone, "+00:00") && !hasForm(zone, "-00:00") {
		return 0, false
	}
	h, m := pair(zone[1:]), pair(zone[4:])
	east := int64(h*3600 + m*60)
	if zone[0] == '-' {
		east = -east
	}
	return east, h < 24 && m < 60
}

// hasForm tells whether s is form with any digits in place of the zeros.
func hasForm(s, form string) bool {
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		if isDigit(s[i]) != (form[i] == '0') || !isDigit(s[i]) && s[i] != form[i] {
			return false
		}
	}
	return true
}

// joinTime finds the time that is sec seconds and a fraction since 1970.
func joinTime(sec int64, frac string, u schema.Unit, up bool) (n number, fine bool) {
	per := u.PerSecond()
	var sub int64
	for div := per / 10; div > 0 && frac != ""; div /= 10 {
		sub += int64(frac[0]-'0') * div
		frac = frac[1:]
	}
	if strings.Trim(frac, "0") != "" {
		if !up {
			return n, true
		}
		sub++
	}
	if sec < 0 && sub > 0 { // so that the product alone can't overflow where the sum fits
		sec, sub = sec+1, sub-per
	}
	ts := sec * per
	if sum := ts + sub; ts/per == sec && (sum >= ts) == (sub >= 0) {
		return timeNumber(sum), false
	}
	return far(sec < 0), false
}

// placeTime finds t among times in unit u.
func placeTime(t time.Time, u schema.Unit, pos int) (number, error) {
	n, fine := joinTime(t.Unix(), fmt.Sprintf("%09d", t.Nanosecond()), u, false)
	if fine {
		return n, badAt(pos, "%s", tooFine(t.Format(time.RFC3339Nano), u, true))
	}
	return n, nil
}

func timeNumber(ts int64) number { return number{order: order(uint64(ts), true)} }

func far(neg bool) number {
	if neg {
		return number{out: -1}
	}
	return number{out: 1}
}
