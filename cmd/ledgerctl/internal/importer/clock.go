package importer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones, where the system has none

	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
)

// A TimeForm says how a file writes times.
type TimeForm uint8

// The forms. Numbers may have decimals, but none finer than the stream's unit.
const (
	Auto     TimeForm = iota // ISO, or a number whose unit its size tells
	Seconds                  // since 1970
	Millis                   // since 1970
	Micros                   // since 1970
	Nanos                    // since 1970
	ISO                      // 2026-10-12T09:30:00.5Z, or without T or zone, or a time of day
	Midnight                 // seconds since midnight of the file's day, there; more than nine decimals are rounded to ns
)

var formNames = [...]string{Auto: "auto", Seconds: "s", Millis: "ms", Micros: "us", Nanos: "ns", ISO: "iso", Midnight: "midnight"}

// String returns the name that ParseTimeForm reads.
func (f TimeForm) String() string { return formNames[f] }

// ParseTimeForm reads auto, s, ms, us, ns, iso or midnight.
func ParseTimeForm(s string) (TimeForm, error) {
	for i, n := range formNames {
		if n == s {
			return TimeForm(i), nil
		}
	}
	return 0, fmt.Errorf("%q is none of %s", shorten(s), strings.Join(formNames[:], ", "))
}

// digits is how many decimals of a second a unit counts.
var digits = [...]int{Seconds: 0, Millis: 3, Micros: 6, Nanos: 9}

// secondsEnd is where times are no longer believed: the year 2200.
const secondsEnd = 7258118400

var pow10 = [...]int64{1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// A clock reads the times of one input into the stream's unit.
type clock struct {
	unit   schema.Unit
	digits int // of the unit
	zone   *time.Location
	day    time.Time // midnight of the input's day there; zero if it isn't known
	plain  bool      // that day has 24 hours of 60 minutes
}

// newClock returns the clock of an input. date may be "".
func newClock(unit schema.Unit, zone *time.Location, date string) (clock, error) {
	if zone == nil {
		zone = time.UTC
	}
	c := clock{unit: unit, zone: zone}
	for p := unit.PerSecond(); p > 1; p /= 10 {
		c.digits++
	}
	if date == "" {
		return c, nil
	}
	day, err := time.ParseInLocation("2006-01-02", date, zone)
	if err != nil {
		return c, fmt.Errorf("%q is no date, as in 2012-06-21", shorten(date))
	}
	c.day, c.plain = day, day.AddDate(0, 0, 1).Sub(day) == 24*time.Hour
	return c, nil
}

// parse reads a time of the form f. rounded says that it had more than nine decimals.
func (c *clock) parse(text string, f TimeForm) (ts int64, rounded bool, err error) {
	switch f {
	case Auto:
		if !looksNumber(text) {
			ts, err = c.iso(text)
			return ts, false, err
		}
		ts, err = c.auto(text)
	case ISO:
		ts, err = c.iso(text)
	case Midnight:
		return c.midnight(text)
	default:
		ts, err = c.since1970(text, f)
	}
	return ts, false, err
}

func looksNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789.") == "" }

// auto tells the unit by the size of the number: each has its own range between
// 1973 and 5138.
func (c *clock) auto(text string) (int64, error) {
	whole, _, _ := strings.Cut(text, ".")
	switch n := len(strings.TrimLeft(whole, "0")); {
	case n <= 8:
		return 0, fmt.Errorf("%q is no time since 1970 whose unit its size tells", shorten(text))
	case n <= 11:
		return c.since1970(text, Seconds)
	case n <= 14:
		return c.since1970(text, Millis)
	case n <= 17:
		return c.since1970(text, Micros)
	}
	return c.since1970(text, Nanos)
}

// since1970 reads a number of one unit into another, exactly.
func (c *clock) since1970(text string, f TimeForm) (int64, error) {
	d := c.digits - digits[f]
	v, err := schema.ParseDecimal(schema.TrimZeros(text), schema.I64, uint8(max(d, 0)))
	if err != nil {
		var e *schema.RangeError
		switch {
		case !errors.As(err, &e):
			return 0, err
		case e.TooFine:
			return 0, c.finer(text)
		}
		return 0, outside(text, f)
	}
	if d < 0 {
		if v%pow10[-d] != 0 {
			return 0, c.finer(text)
		}
		v /= pow10[-d]
	}
	if v < 0 || v/c.unit.PerSecond() >= secondsEnd {
		return 0, outside(text, f)
	}
	return v, nil
}

func outside(text string, f TimeForm) error {
	return fmt.Errorf("%s in %s lies outside 1970–2200", shorten(text), f)
}

func (c *clock) finer(text string) error {
	return fmt.Errorf("%s is finer than the stream's %s", shorten(text), c.unit)
}

// iso reads RFC 3339 and what is like it: a blank for the T, no zone, a time of
// day alone.
func (c *clock) iso(text string) (int64, error) {
	if len(text) >= 8 && text[2] == ':' && c.day.IsZero() {
		return 0, errors.New("a time of day needs the date of the file: give --date")
	}
	if len(text) >= 8 && text[2] == ':' {
		text = c.day.Format("2006-01-02") + "T" + text
	}
	if len(text) < 19 || text[10] != 'T' && text[10] != ' ' {
		return 0, fmt.Errorf("%q is no time, as in 2026-10-12T09:30:00Z", shorten(text))
	}
	text = text[:10] + "T" + text[11:]
	if zone := strings.TrimLeft(text[19:], ".0123456789"); zone != "" {
		return value.ParseTime(text, c.unit)
	}
	// The time in its own zone is taken as one in UTC, then moved by the zone's
	// distance from it: so no digit of a fraction goes through another parser.
	ts, err := value.ParseTime(text+"Z", c.unit)
	if err != nil || c.zone == time.UTC {
		return ts, err
	}
	wall, err := time.ParseInLocation("2006-01-02T15:04:05", text[:19], c.zone)
	if err != nil {
		return 0, err
	}
	if wall.Format("2006-01-02T15:04:05") != text[:19] {
		return 0, fmt.Errorf("no clock of %s showed %s: it was put forward", c.zone, text)
	}
	_, east := wall.Zone()
	return ts - int64(east)*c.unit.PerSecond(), nil
}

// midnight reads seconds since midnight.
func (c *clock) midnight(text string) (ts int64, rounded bool, err error) {
	if c.day.IsZero() {
		return 0, false, errors.New("a time of day needs the date of the file: give --date")
	}
	whole, frac, point := strings.Cut(text, ".")
	sec, err := strconv.ParseUint(whole, 10, 32)
	if err != nil || point && (frac == "" || strings.Trim(frac, "0123456789") != "") {
		return 0, false, fmt.Errorf("%q is no number of seconds", shorten(text))
	}
	if sec >= 86400 {
		return 0, false, fmt.Errorf("%s seconds are more than a day has", shorten(text))
	}
	ns, up := int64(0), false
	for i := range 9 {
		ns *= 10
		if i < len(frac) {
			ns += int64(frac[i] - '0')
		}
	}
	if len(frac) > 9 {
		rounded = strings.Trim(frac[9:], "0") != ""
		up = frac[9] >= '5'
	}
	if up {
		ns++
	}
	step := pow10[9-c.digits]
	if ns%step != 0 {
		return 0, false, c.finer(text)
	}
	at := c.day.Unix() + int64(sec)
	if !c.plain {
		at = time.Date(c.day.Year(), c.day.Month(), c.day.Day(), int(sec/3600), int(sec/60%60), int(sec%60), 0, c.zone).Unix()
	}
	if at < 0 || at >= secondsEnd {
		return 0, false, fmt.Errorf("the date %s lies outside 1970–2200", c.day.Format("2006-01-02"))
	}
	return at*c.unit.PerSecond() + ns/step, rounded, nil
}
