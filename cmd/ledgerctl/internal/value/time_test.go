package value_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
)

const (
	ns = schema.Nanosecond
	us = schema.Microsecond
	ms = schema.Millisecond
)

func TestClock(t *testing.T) {
	for _, c := range []struct {
		ts   int64
		unit schema.Unit
		want string
	}{
		{0, ns, "1970-01-01T00:00:00.000000000Z"},
		{0, us, "1970-01-01T00:00:00.000000Z"},
		{0, ms, "1970-01-01T00:00:00.000Z"},
		{-1, ns, "1969-12-31T23:59:59.999999999Z"},
		{-1, ms, "1969-12-31T23:59:59.999Z"},
		{1791797400000000001, ns, "2026-10-12T09:30:00.000000001Z"},
		{math.MinInt64, ns, "1677-09-21T00:12:43.145224192Z"},
		{math.MaxInt64, ns, "2262-04-11T23:47:16.854775807Z"},
		{math.MaxInt64, us, "9223372036854775807us"},
		{math.MinInt64, ms, "-9223372036854775808ms"},
		{253402300799999, ms, "9999-12-31T23:59:59.999Z"},
		{253402300800000, ms, "253402300800000ms"},
		{-62167219200000, ms, "0000-01-01T00:00:00.000Z"},
		{-62167219200001, ms, "-62167219200001ms"},
	} {
		if got := string(value.AppendTime(nil, c.ts, c.unit)); got != c.want {
			t.Errorf("AppendTime(%d, %v) = %s, want %s", c.ts, c.unit, got, c.want)
		}
	}
}

// FuzzTime: what is written is read back as the same number, and is what the
// standard library writes, also when a clock goes back and forth.
func FuzzTime(f *testing.F) {
	f.Add(int64(0), int64(59), uint8(0))
	f.Add(int64(-1), int64(math.MaxInt64), uint8(1))
	f.Add(int64(1791797400000), int64(math.MinInt64), uint8(2))
	f.Fuzz(func(t *testing.T, a, b int64, n uint8) {
		u := schema.Unit(n%3) + schema.Nanosecond
		c := value.NewClock(u)
		for _, ts := range []int64{a, b, a} {
			text := string(c.Append(nil, ts))
			back, err := value.ParseTime(text, u)
			if err != nil || back != ts {
				t.Fatalf("%d %v is written %s and read back %d, %v", ts, u, text, back, err)
			}
			layout := "2006-01-02T15:04:05." + strings.Repeat("0", int(3*(4-u))) + "Z"
			want := time.Unix(0, ts)
			switch u {
			case us:
				want = time.UnixMicro(ts)
			case ms:
				want = time.UnixMilli(ts)
			}
			if y := want.UTC().Year(); y >= 0 && y <= 9999 && text != want.UTC().Format(layout) {
				t.Fatalf("%d %v is written %s, want %s", ts, u, text, want.UTC().Format(layout))
			}
		}
	})
}
