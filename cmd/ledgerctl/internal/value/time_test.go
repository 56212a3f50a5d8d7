package value_test

import (
	"errors"
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
	} {
		got, err := value.ParseTime(c.in, c.unit)
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
		{"9223372036854775808ns", ns, "beyond 64 bits"},
		{"9223372036854775807us", ns, "beyond 64 bits"},
		{"2262-04-11T23:47:16.854775808Z", ns, "can't reach that year"},
		{"1677-09-21T00:12:43.145224191Z", ns, "can't reach that year"},
		{"9999-12-31T23:59:59Z", ns, "can't reach that year"},
		{strings.Repeat("9", 1000) + "s", ns, "write RFC 3339"},
	} {
		got, err := value.ParseTime(c.in, c.unit)
		if err == nil || !strings.Contains(err.Error(), c.say) {
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
		got, err := value.ParseBound(c.in, ms)
		if err != nil || got != c.want {
			t.Errorf("ParseBound(%q) = %d, %v, want %d", c.in, got, err, c.want)
		}
	}
	if _, err := value.ParseTime("1001us", ms); !errors.Is(err, value.ErrFiner) {
		t.Errorf("ParseTime of a finer time: %v, want ErrFiner", err)
	}
}

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

// FuzzParseTime: no text makes it panic, a bound is never below the time, and
// both agree where the time is exact.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"1791800000000000us", "2026-10-12T09:30:00.5+02:00", "-1.5s", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999999Z"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, s string, n uint8) {
		u := schema.Unit(n%3) + schema.Nanosecond
		ts, err := value.ParseTime(s, u)
		bound, berr := value.ParseBound(s, u)
		switch {
		case err == nil && (berr != nil || bound != ts):
			t.Fatalf("%q: time %d, bound %d, %v", s, ts, bound, berr)
		case err == nil:
			if back, err := value.ParseTime(string(value.AppendTime(nil, ts, u)), u); err != nil || back != ts {
				t.Fatalf("%q is %d, written and read again %d, %v", s, ts, back, err)
			}
		case berr == nil && !errors.Is(err, value.ErrFiner):
			t.Fatalf("%q: bound %d, but time %v", s, bound, err)
		}
	})
}
