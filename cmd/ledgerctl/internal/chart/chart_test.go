package chart_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/ledger/cmd/ledgerctl/internal/chart"
)

func draw(t *testing.T, candles []chart.Candle, o chart.Options) string {
	t.Helper()
	var b strings.Builder
	if err := chart.Write(&b, candles, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWrite: bodies and wicks in their places, gaps, labels and times.
func TestWrite(t *testing.T) {
	nan := math.NaN()
	candles := []chart.Candle{
		{"09:30", 0, 7, 0, 7, 8},         // all body
		{"09:31", 2, 7, 0, 5, 4},         // wicks on both sides
		{"09:32", nan, nan, nan, nan, 0}, // nothing
		{"09:33", 3, 3, 3, 3, 1},         // no more than a point
		{"09:34", 7, 7, 0, 0, 0},         // falling, and no volume
		{"09:35", 6, 6, 1, 1, 2}, {}, {}, {}, {}, {}, {},
	}
	for i := 6; i < len(candles); i++ {
		candles[i] = chart.Candle{"09:" + fmt.Sprint(30+i), 1, 1, 1, 1, 1}
	}
	want := `px
7.0 ┃│  ┃╻
    ┃┃  ┃┃
    ┃┃ ╹┃┃
0.0 ┃│  ┃╹╹╹╹╹╹╹
    █▅ ▂ ▃▂▂▂▂▂▂
    09:30  09:41
`
	if got := draw(t, candles, chart.Options{Title: "px", Width: 40, Height: 4, Digits: 1}); got != want {
		t.Errorf("drawn as\n%swant\n%s", got, want)
	}
	got := draw(t, candles, chart.Options{Width: 40, Height: 4, Color: true})
	for _, part := range []string{"\x1b[32m┃\x1b[0m", "\x1b[31m┃\x1b[0m"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q has no %q", got, part)
		}
	}
}

// TestJoin: neighbours become one candle where there are too many.
func TestJoin(t *testing.T) {
	var candles []chart.Candle
	for i := range 100 {
		v := float64(i)
		candles = append(candles, chart.Candle{"t", v, v + 1, v, v + 1, 1})
	}
	got := draw(t, candles, chart.Options{Width: 24, Height: 5})
	if !strings.Contains(got, "Each column is 5 candles.\n") {
		t.Errorf("drawn as\n%s", got)
	}
	if first := strings.Split(got, "\n")[4]; !strings.HasPrefix(first, "  0 ╻┃╹") {
		t.Errorf("the lowest line is %q", first)
	}
}

// TestFits: whatever there is to draw, lines have at most the width, and all of it
// is drawn.
func TestFits(t *testing.T) {
	for _, n := range []int{0, 1, 2, 79, 80, 81, 1000} {
		for _, width := range []int{0, 20, 80, 200} {
			candles := make([]chart.Candle, n)
			for i := range candles {
				v := 1e6 * math.Sin(float64(i))
				candles[i] = chart.Candle{"2026-10-12T09:30:00Z", v, v + 5, v - 5, v + 1, float64(i % 7)}
			}
			got := draw(t, candles, chart.Options{Width: width, Height: 16, Digits: 2})
			for line := range strings.Lines(got) {
				if c := utf8.RuneCountInString(strings.TrimSpace(line)); c > max(width, 40) {
					t.Errorf("%d candles in %d cells: a line has %d", n, width, c)
				}
			}
			if lines := strings.Count(got, "\n"); lines < 17 {
				t.Errorf("%d candles: %d lines", n, lines)
			}
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestWriteError(t *testing.T) {
	if err := chart.Write(broken{}, nil, chart.Options{}); err == nil {
		t.Error("no error from a writer that fails")
	}
}
