package value

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Units of a duration, largest first. A day has 24 hours here.
var durationUnits = []struct {
	name string
	size time.Duration
}{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
	{"us", time.Microsecond},
	{"ns", time.Nanosecond},
}

// ParseDuration reads a duration of at least 0: 7d, 12h30m, 1.5s, 250ms, with the
// units w, d, h, m, s, ms, us and ns. Only 0 needs no unit.
func ParseDuration(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	var sum int64
	rest := s
	for rest != "" {
		number, tail, ok := splitNumber(rest)
		if !ok || number[0] == '-' {
			return 0, badDuration(s)
		}
		n := strings.IndexAny(tail, "0123456789.-")
		if n < 0 {
			n = len(tail)
		}
		size := durationUnit(tail[:n])
		if size == 0 {
			return 0, badDuration(s)
		}
		part, err := scaled(number, int64(size))
		if err != nil {
			return 0, fmt.Errorf("duration %q: %w", s, err)
		}
		if sum, ok = addChecked(sum, part); !ok {
			return 0, fmt.Errorf("duration %q is longer than 292 years", s)
		}
		rest = tail[n:]
	}
	if s == "" {
		return 0, badDuration(s)
	}
	return time.Duration(sum), nil
}

func badDuration(s string) error {
	return fmt.Errorf("%q is not a duration: write a number with w, d, h, m, s, ms, us or ns, as in 7d or 12h30m", s)
}

func durationUnit(name string) time.Duration {
	for _, u := range durationUnits {
		if u.name == name {
			return u.size
		}
	}
	return 0
}

// FormatDuration writes a duration of at least 0 as ParseDuration reads it, in the
// largest units that fit: 7d, 12h30m, 1m30s.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	var b []byte
	for _, u := range durationUnits[1:] { // weeks read worse than days
		if n := d / u.size; n > 0 {
			b = strconv.AppendInt(b, int64(n), 10)
			b = append(b, u.name...)
			d %= u.size
		}
	}
	return string(b)
}
