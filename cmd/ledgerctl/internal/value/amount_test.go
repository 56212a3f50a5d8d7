package value_test

import (
	"math"
	"testing"
	"time"

	"example.com/ledger/cmd/ledgerctl/internal/value"
)

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "1ns": 1, "7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour,
		"12h30m": 12*time.Hour + 30*time.Minute, "1.5s": 1500 * time.Millisecond,
		"250ms": 250 * time.Millisecond, "1d1ns": 24*time.Hour + 1, "0.5d": 12 * time.Hour,
	} {
		if got, err := value.ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "7", "-7d", "7 d", "d", "7y", "1.5ns", "1h-5m", "300000w", "106751d24h", "1e3s", ".5s", "5.s"} {
		if got, err := value.ParseDuration(in); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", in, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "4096": 4096, "10GiB": 10 << 30, "10GB": 1e10, "1.5MiB": 3 << 19, "1kb": 1000,
		"2 TiB": 2 << 40, "7B": 7, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := value.ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "G", "10G", "-1", "1.5", "0.1KiB", "9223372036854775808", "8388608TiB", "1e6", "10 GiBs"} {
		if got, err := value.ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 10 << 10: "10.0 KiB", 100 << 20: "100 MiB",
		3 << 29: "1.50 GiB", math.MaxInt64: "8388608 TiB",
	} {
		if got := value.FormatSize(in); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", in, got, want)
		}
	}
}

// FuzzDuration: no text makes it panic, and what is written is read back.
func FuzzDuration(f *testing.F) {
	f.Add("7d")
	f.Add("12h30m1.5s")
	f.Add("292w0.000000001s")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := value.ParseDuration(s)
		if err != nil {
			return
		}
		text := value.FormatDuration(d)
		if back, err := value.ParseDuration(text); err != nil || back != d || d < 0 {
			t.Fatalf("%q is %d, written %q and read back %d, %v", s, d, text, back, err)
		}
	})
}

// FuzzSize: no text makes it panic or gives less than nothing.
func FuzzSize(f *testing.F) {
	f.Add("10GiB")
	f.Add("1.5 mb")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := value.ParseSize(s); err == nil && (n < 0 || value.FormatSize(n) == "") {
			t.Fatalf("%q is %d bytes", s, n)
		}
	})
}
