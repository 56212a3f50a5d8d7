// Package measure has what makes numbers out of runs: medians with their
// spread, and histograms of latencies.
package measure

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Series is one figure, measured once in every round.
type Series []float64

// Median is the middle value; the mean of the two middle ones of an even number.
// It is NaN for none.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	t := slices.Sorted(slices.Values(s))
	return (t[(len(t)-1)/2] + t[len(t)/2]) / 2
}

// Range returns the smallest and the largest value.
func (s Series) Range() (lo, hi float64) {
	if len(s) == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Min(s), slices.Max(s)
}

// Ratios divides what was measured in the same rounds.
func Ratios(a, b Series) (out Series) {
	for i := range min(len(a), len(b)) {
		out = append(out, a[i]/b[i])
	}
	return out
}

// latencyMax is the longest latency that a histogram tells apart.
const latencyMax = time.Hour

// A Hist is a histogram of latencies with three digits. It has one writer.
type Hist struct {
	h *hdrhistogram.Histogram
}

// NewHist makes an empty histogram.
func NewHist() *Hist { return &Hist{hdrhistogram.New(1, int64(latencyMax), 3)} }

// Add records a latency. It doesn't allocate.
func (h *Hist) Add(d time.Duration) {
	_ = h.h.RecordValue(min(max(int64(d), 1), int64(latencyMax))) // always in range
}

// Merge adds what another histogram has.
func (h *Hist) Merge(o *Hist) { h.h.Merge(o.h) }

// Count is the number of latencies.
func (h *Hist) Count() int64 { return h.h.TotalCount() }

// Quantile returns, in nanoseconds, the latency that a part q of all don't
// exceed; 1 is the longest. ok is false where fewer than five lie above it: such
// a number would be chance.
func (h *Hist) Quantile(q float64) (ns float64, ok bool) {
	n := float64(h.h.TotalCount())
	if n == 0 || q < 1 && n*(1-q) < 5 {
		return 0, false
	}
	return float64(h.h.ValueAtQuantile(q * 100)), true
}

// Percentiles are those that tables show, by name.
var Percentiles = []struct {
	Name string
	Q    float64
}{{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p99.9", .999}, {"p99.99", .9999}, {"max", 1}}

// Into puts the percentiles that are known into a map.
func (h *Hist) Into(m map[string]float64) {
	for _, p := range Percentiles {
		if v, ok := h.Quantile(p.Q); ok {
			m[p.Name] = v
		}
	}
}
