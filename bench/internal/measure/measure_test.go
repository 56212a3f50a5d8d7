package measure

import (
	"math"
	"testing"
	"time"
)

func TestSeries(t *testing.T) {
	for _, c := range []struct {
		s              Series
		median, lo, hi float64
	}{
		{Series{3}, 3, 3, 3},
		{Series{4, 1}, 2.5, 1, 4},
		{Series{9, 1, 5}, 5, 1, 9},
	} {
		lo, hi := c.s.Range()
		if c.s.Median() != c.median || lo != c.lo || hi != c.hi {
			t.Errorf("%v: median %v, range %v to %v; want %v, %v to %v", c.s, c.s.Median(), lo, hi, c.median, c.lo, c.hi)
		}
	}
	if !math.IsNaN(Series(nil).Median()) {
		t.Error("the median of nothing is a number")
	}
}

// TestQuantile: a percentile comes within the histogram's three digits, and not
// at all from too few samples.
func TestQuantile(t *testing.T) {
	h := NewHist()
	for i := range 10_000 {
		h.Add(time.Duration(i+1) * time.Microsecond)
	}
	for _, q := range []float64{.5, .99, .999} {
		got, ok := h.Quantile(q)
		if want := q * 1e7; !ok || math.Abs(got/want-1) > .002 {
			t.Errorf("quantile %v is %v, %v; want %v", q, got, ok, want)
		}
	}
	if got, ok := h.Quantile(.9999); ok {
		t.Errorf("the slowest in ten thousand of ten thousand is told: %v", got)
	}
	m := map[string]float64{}
	h.Into(m)
	if len(m) != len(Percentiles)-1 {
		t.Errorf("percentiles %v", m)
	}
}
