package query

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"example.com/ledger/schema"
)

const (
	ns = schema.Nanosecond
	us = schema.Microsecond
	ms = schema.Millisecond
)

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		in   string
		unit schema.Unit
		want int64
	}{
		{"0", ns, 0},
		{"1791800000000000", us, 1791800000000000},
		{"1791800000000000us", us, 1791800000000000},
		{"1791800000000000us", ns, 1791800000000000000},
		{"1791800000000000us", ms, 1791800000000},
		{"1791800000s", ms, 1791800000000},
		{"1791800000000000µs", ms, 1791800000000},
		{"2026-10-12", ms, 1791763200000},
		{"1791800000.25s", ms, 1791800000250},
		{"-1ns", ns, -1},
		{"-1000000ns", ms, -1},
		{"9223372036854775807ns", ns, math.MaxInt64},
		{"-9223372036854775808us", us, math.MinInt64},
		{"9223372036854775807us", us, math.MaxInt64},
		{"1970-01-01T00:00:00Z", ns, 0},
		{"1969-12-31T23:59:59.999999999Z", ns, -1},
		{"1969-12-31T23:59:59.999Z", ms, -1},
		{"2026-10-12T09:30:00.000000001Z", ns, 1791797400000000001},
		{"2026-10-12T11:30:00+02:00", ms, 1791797400000},
		{"2026-10-12T09:30:00.1234567890000Z", ns, 1791797400123456789},
		{"2026-10-12T09:30:00.120000Z", ms, 1791797400120},
		{"1677-09-21T00:12:43.145224192Z", ns, math.MinInt64},
		{"2262-04-11T23:47:16.854775807Z", ns, math.MaxInt64},
		{"0000-01-01T00:00:00Z", ms, -62167219200000},
		{"9999-12-31T23:59:59.999Z", ms, 253402300799999},
		{"2199-12-31T23:59:59Z", us, 7258118399000000},
		{"7258118399999", ms, 7258118399999},
		{"-5s", ms, -5000},
		{"7µs", ns, 7000},
	} {
		got, err := ParseTime(c.unit, c.in)
		if err != nil || got != c.want {
			t.Errorf("ParseTime(%q, %v) = %d, %v, want %d", c.in, c.unit, got, err, c.want)
		}
	}
}

func TestParseTimeRefuses(t *testing.T) {
	for _, c := range []struct {
		in   string
		unit schema.Unit
		say  string // a part of the error
	}{
		{"", ns, "write RFC 3339"},
		{"yesterday", ns, "write RFC 3339"},
		{"2026-02-30", ns, "write RFC 3339"},
		{"26-10-12", ns, "write RFC 3339"},
		{"2026-10-12T09:30:00", ns, "write RFC 3339"},
		{"2026-10-12T9:30:00Z", ns, "write RFC 3339"},
		{"2026-10-12T09:30:00,5Z", ns, "write RFC 3339"},
		{"2026-10-12T09:30:00.Z", ns, "write RFC 3339"},
		{"2026-10-12T09:30:00z", ns, "write RFC 3339"},
		{"2026-10-12T09:30:00+0200", ns, "write RFC 3339"},
		{"2026-10-12T09:30:00+24:00", ns, "write RFC 3339"},
		{"2026-13-12T09:30:00Z", ns, "write RFC 3339"},
		{"2026-02-29T09:30:00Z", ns, "write RFC 3339"},
		{"2026-10-12T24:00:00Z", ns, "write RFC 3339"},
		{"2026-10-12T09:30:60Z", ns, "write RFC 3339"},
		{"2026-10-12T09:30:00.0000000001Z", ns, "the stream counts ns"},
		{"2026-10-12T09:30:00.0001Z", ms, "the stream counts ms"},
		{"1791800000000001us", ms, "the stream counts ms"},
		{"1.5ns", ns, "the stream counts ns"},
		{"1.5", ns, "a whole number of ns"},
		{"+5", ns, "write RFC 3339"},
		{"1e3s", ns, "write RFC 3339"},
		{"5 s", ns, "write RFC 3339"},
		{"5min", ns, "write RFC 3339"},
		{"-1", ns, "write -1ns"},
		{"1791800000000000000", us, "if it is in ns, write 1791800000000000000ns"},
		{"1791800000000000", ms, "if it is in us, write 1791800000000000us"},
		{"7258118400000", ms, "if it is meant, write 7258118400000ms"},
		{"7258118400000000000", ns, "write 7258118400000000000ns"},
		{"9223372036854775808", ns, "fits 64 bits"},
		{"9223372036854775808ns", ns, "can't reach it"},
		{"9223372036854775807us", ns, "can't reach it"},
		{"2262-04-11T23:47:16.854775808Z", ns, "can't reach it"},
		{"1677-09-21T00:12:43.145224191Z", ns, "can't reach it"},
		{"9999-12-31T23:59:59Z", ns, "can't reach it"},
		{strings.Repeat("9", 1000) + "s", ns, "write RFC 3339"},
	} {
		got, err := ParseTime(c.unit, c.in)
		if !isInvalid(err) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("ParseTime(%q, %v) = %d, %v, want an error with %q", c.in, c.unit, got, err, c.say)
		}
	}
}

// TestParseBound: both ends of [since, until) keep the times that they mean when
// the stream counts more coarsely than they are written.
func TestParseBound(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
	}{
		{"1970-01-01T00:00:01Z", 1000},
		{"1970-01-01T00:00:01.0001Z", 1001},
		{"1970-01-01T00:00:00.9999999999999Z", 1000},
		{"1969-12-31T23:59:59.9990001Z", 0},
		{"1001us", 2},
		{"-1001us", -1},
		{"1000us", 1},
	} {
		got, err := ParseBound(ms, c.in)
		if err != nil || got != c.want {
			t.Errorf("ParseBound(%q) = %d, %v, want %d", c.in, got, err, c.want)
		}
	}
}

// FuzzParseTime: no text makes it panic, a bound is never below the time, and
// both agree where the time is exact.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"1791800000000000us", "2026-10-12T09:30:00.5+02:00", "-1.5s", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999999Z"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, s string, n uint8) {
		u := schema.Unit(n%3) + schema.Nanosecond
		ts, err := ParseTime(u, s)
		bound, berr := ParseBound(u, s)
		switch {
		case err == nil && (berr != nil || bound != ts):
			t.Fatalf("%q: time %d, bound %d, %v", s, ts, bound, berr)
		case err == nil:
			if back, err := ParseTime(u, fmt.Sprintf("%d%v", ts, u)); err != nil || back != ts {
				t.Fatalf("%q is %d, written and read again %d, %v", s, ts, back, err)
			}
		case berr == nil && !strings.Contains(err.Error(), "the stream counts"):
			t.Fatalf("%q: bound %d, but time %v", s, bound, err)
		}
	})
}

// TestTimeLiterals: a time that the stream's unit can't reach stands below or
// above all of them; one that is finer is refused.
func TestTimeLiterals(t *testing.T) {
	far, early := time.Date(5000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-9999, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, p := range []Pred{
		Lt("ts", far), Gt("ts", early), Ge("ts", time.Unix(math.MinInt64, 0)), Lt("ts", time.Unix(math.MaxInt64, 0)),
		Lt("ts", "5000-01-01"), Ne("ts", "9223372036854775808ns"), Gt("ts", "-9223372036854775809ns"),
	} {
		if f, err := NewFilter(fillLike, p); err != nil || !f.All() {
			t.Errorf("%v does not hold for all times: %v", p, err)
		}
	}
	for _, p := range []Pred{Eq("ts", time.Unix(0, 1500)), Eq("ts", "1500ns"), Eq("ts", "1970-01-01T00:00:00.0000015Z"), Eq("a", time.Unix(1, 0))} {
		if _, err := NewFilter(allKinds, p); !isInvalid(err) {
			t.Errorf("%v, on a stream of microseconds: %v, want ErrInvalid", p, err)
		}
	}
}
