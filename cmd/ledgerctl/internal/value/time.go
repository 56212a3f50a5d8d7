package value

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/ledger/schema"
)

// Bare numbers are believed between these two, in seconds since 1970: outside,
// the unit is more likely wrong than the year.
const (
	bareSecondsMin int64 = 0
	bareSecondsEnd int64 = 7258118400 // 2200-01-01T00:00:00Z
)

// perSecond is how many of each typed unit make a second.
var perSecond = map[string]int64{"ns": 1e9, "us": 1e6, "µs": 1e6, "ms": 1e3, "s": 1}

// ParseTime reads a point in time into the unit u: RFC 3339, a date (its first
// instant in UTC), a number with one of the units ns, us, ms and s (counted from
// 1970), or a bare number, which is in u itself and must lie between 1970 and
// 2200. A time finer than u is ErrFiner.
func ParseTime(s string, u schema.Unit) (int64, error) { return parseTime(s, u, false) }

// ParseBound reads a time like ParseTime, but rounds a finer one up. So both ends
// of a half-open range keep exactly the times that they mean.
func ParseBound(s string, u schema.Unit) (int64, error) { return parseTime(s, u, true) }

func parseTime(s string, u schema.Unit, up bool) (int64, error) {
	if ts, err := strconv.ParseInt(s, 10, 64); err == nil && s[0] != '+' {
		return bareTime(ts, u)
	}
	number, unit, ok := splitNumber(s)
	switch per := perSecond[unit]; {
	case ok && per > 0:
		ts, err := scaled(number, u.PerSecond(), per, up)
		return ts, timeError(s, u, err)
	case ok && unit == "":
		return 0, fmt.Errorf("%q is not a time: a bare number must be a whole number of %s that fits 64 bits", s, u)
	case hasForm(s, "0000-00-00"):
		ts, err := parseRFC3339(s+"T00:00:00Z", u, up)
		return ts, timeError(s, u, err)
	case strings.Contains(s, ":"):
		ts, err := parseRFC3339(s, u, up)
		return ts, timeError(s, u, err)
	}
	return 0, fmt.Errorf("%q is not a time: write RFC 3339 (2026-10-12T09:30:00Z) or a number with ns, us, ms or s", s)
}

func timeError(s string, u schema.Unit, err error) error {
	if errors.Is(err, ErrFiner) {
		return fmt.Errorf("time %q: %w: the stream counts %s", s, err, u)
	}
	if err != nil {
		return fmt.Errorf("%q is not a time: %w", s, err)
	}
	return nil
}

// bareTime believes a number without a unit, or says which unit it may be in.
func bareTime(ts int64, u schema.Unit) (int64, error) {
	if believable(ts, u.PerSecond()) {
		return ts, nil
	}
	for _, name := range []string{"ns", "us", "ms", "s"} {
		if per := perSecond[name]; per != u.PerSecond() && believable(ts, per) && ts/per > 365*86400 {
			return 0, fmt.Errorf("time %d lies outside 1970–2200 in %s, the stream's unit; if it is in %s, write %d%s", ts, u, name, ts, name)
		}
	}
	return 0, fmt.Errorf("time %d lies outside 1970–2200 in %s, the stream's unit; if it is meant, write %d%s", ts, u, ts, u)
}

func believable(ts, per int64) bool {
	return ts >= bareSecondsMin*per && ts/per < bareSecondsEnd
}

// parseRFC3339 is strict about the form, and about digits behind the ninth:
// the standard library's parser lets single-digit hours pass, and drops those digits.
func parseRFC3339(s string, u schema.Unit, up bool) (int64, error) {
	sec, frac, ok := cutRFC3339(s)
	if !ok {
		return 0, errors.New("write RFC 3339, as in 2026-10-12T09:30:00Z")
	}
	var sub int64
	for div := u.PerSecond() / 10; div > 0 && frac != ""; div /= 10 {
		sub += int64(frac[0]-'0') * div
		frac = frac[1:]
	}
	if strings.Trim(frac, "0") != "" {
		if !up {
			return 0, ErrFiner
		}
		sub++
	}
	return joinTime(sec, sub, u)
}

// cutRFC3339 returns the seconds since 1970 and the digits after the point.
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
		for n < len(zone) && zone[n] >= '0' && zone[n] <= '9' {
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
		if digit := s[i] >= '0' && s[i] <= '9'; digit != (form[i] == '0') || !digit && s[i] != form[i] {
			return false
		}
	}
	return true
}

// joinTime returns sec seconds and sub units, where they fit.
func joinTime(sec, sub int64, u schema.Unit) (int64, error) {
	per := u.PerSecond()
	if sec < 0 && sub > 0 { // so that the product alone can't overflow where the sum fits
		sec, sub = sec+1, sub-per
	}
	ts := sec * per
	if ts/per == sec {
		if ts, ok := addChecked(ts, sub); ok {
			return ts, nil
		}
	}
	return 0, fmt.Errorf("64 bits of %s can't reach that year", u)
}
