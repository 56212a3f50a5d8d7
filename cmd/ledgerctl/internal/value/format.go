package value

import (
	"math"
	"strconv"
	"time"

	"example.com/ledger/schema"
)

// Years that RFC 3339 can write, in seconds since 1970.
const (
	yearZero  int64 = -62167219200 // 0000-01-01T00:00:00Z
	yearAfter int64 = 253402300800 // 10000-01-01T00:00:00Z
)

// A Clock writes times of one unit as RFC 3339 in UTC. It remembers the last
// minute it wrote, since neighbours in a stream share it. Its zero value is not
// ready: see NewClock. One goroutine at a time.
type Clock struct {
	unit   schema.Unit
	per    int64
	digits int
	minute int64  // the one that prefix stands for, since 1970
	prefix []byte // "2026-10-12T09:30:"
}

// NewClock returns a Clock for times in u.
func NewClock(u schema.Unit) *Clock {
	c := &Clock{unit: u, per: u.PerSecond(), minute: math.MinInt64}
	for p := c.per; p > 1; p /= 10 {
		c.digits++
	}
	return c
}

// Append appends ts with all the digits of the clock's unit. A time outside the
// years 0 to 9999, which RFC 3339 can't write, is appended as a number with its
// unit; ParseTime reads both back.
func (c *Clock) Append(b []byte, ts int64) []byte {
	sec, sub := floorDiv(ts, c.per)
	if sec < yearZero || sec >= yearAfter {
		return append(strconv.AppendInt(b, ts, 10), c.unit.String()...)
	}
	minute, s := floorDiv(sec, 60)
	if minute != c.minute {
		c.minute = minute
		c.prefix = time.Unix(minute*60, 0).UTC().AppendFormat(c.prefix[:0], "2006-01-02T15:04:")
	}
	b = append(b, c.prefix...)
	b = append(b, byte('0'+s/10), byte('0'+s%10), '.')
	for div := c.per / 10; div > 0; div /= 10 {
		b = append(b, byte('0'+sub/div%10))
	}
	return append(b, 'Z')
}

// AppendTime appends one time: see Clock.
func AppendTime(b []byte, ts int64, u schema.Unit) []byte { return NewClock(u).Append(b, ts) }

// floorDiv divides, rounding down, so that the remainder is never negative.
func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}
