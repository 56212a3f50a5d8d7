package flow

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// fractionDigits is how many digits a time of day may have behind the point.
const fractionDigits = 12

// midnight is the start of a trading day, in its market's time zone.
type midnight struct{ day time.Time }

// nanos turns a decimal number of seconds after midnight into nanoseconds since
// 1970 UTC, without floating point: a digit behind the ninth rounds half up.
func (m midnight) nanos(s string) (int64, error) {
	whole, fraction, point := strings.Cut(s, ".")
	seconds, err := strconv.ParseUint(whole, 10, 32)
	if err != nil || seconds > 24*60*60 {
		return 0, fmt.Errorf("time %q: want seconds after midnight, 0 to 86400", s)
	}
	if point && (fraction == "" || len(fraction) > fractionDigits) {
		return 0, fmt.Errorf("time %q: want 1 to %d digits behind the point", s, fractionDigits)
	}
	picos, err := strconv.ParseUint((fraction + "000000000000")[:fractionDigits], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("time %q: want digits behind the point", s)
	}
	y, month, d := m.day.Date()
	t := time.Date(y, month, d, 0, 0, int(seconds), int((picos+500)/1000), m.day.Location())
	return t.UnixNano(), nil
}
