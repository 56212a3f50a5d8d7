package retention_test

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"pgregory.net/rapid"
)

// TestSelectAgainstModel: whatever the segments and the rules, Select drops what
// each rule, written down naively and asked alone, drops, and nothing else.
func TestSelectAgainstModel(t *testing.T) {
	dropped, kept := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]schema.Unit{schema.Nanosecond, schema.Microsecond, schema.Millisecond}).Draw(t, "unit")
		now := time.Unix(rapid.Int64Range(-2e9, 4e9).Draw(t, "now"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos"))
		segs := drawSegments(t, now, unit)
		total := drawTotals(t, segs)
		p := drawPolicy(t, segs, now, unit)
		before := slices.Clone(segs)

		want := modelSelect(p, segs, total, now, unit)
		got := p.Select(rapid.Permutation(segs).Draw(t, "order"), total, now, unit)
		if !slices.Equal(got, want) {
			t.Fatalf("%v of %+v\n got %+v\nwant %+v", p, segs, got, want)
		}
		if !slices.Equal(segs, before) {
			t.Fatal("Select changed its input")
		}
		dropped += len(got)
		kept += len(segs) - len(got)
	})
	if dropped == 0 || kept == 0 {
		t.Fatalf("%d dropped and %d kept: the test saw one side only", dropped, kept)
	}
}

// TestSelectIsMonotonic: another rule never saves a segment, and dropping twice
// drops nothing more.
func TestSelectIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit, now := schema.Microsecond, time.Unix(1_800_000_000, 0)
		segs := drawSegments(t, now, unit)
		total := drawTotals(t, segs)
		p, q := drawPolicy(t, segs, now, unit), drawPolicy(t, segs, now, unit)
		both := p
		if both.BeforeTime == nil {
			both.BeforeTime = q.BeforeTime
		}
		if both.MaxAge == 0 {
			both.MaxAge = q.MaxAge
		}
		if both.KeepRecords == 0 {
			both.KeepRecords = q.KeepRecords
		}
		less, more := p.Select(segs, total, now, unit), both.Select(segs, total, now, unit)
		for _, d := range less {
			if !slices.ContainsFunc(more, func(m retention.Dropped) bool { return m.Segment == d.Segment }) {
				t.Fatalf("%v drops %+v, %v does not", p, d, both)
			}
		}
		left := slices.DeleteFunc(slices.Clone(segs), func(s retention.Segment) bool {
			return slices.ContainsFunc(less, func(d retention.Dropped) bool { return d.Segment == s })
		})
		for _, d := range less {
			total.Records -= d.Records()
			total.Bytes -= d.Bytes
		}
		if again := p.Select(left, total, now, unit); len(again) != 0 {
			t.Fatalf("%v drops %+v the second time", p, again)
		}
	})
}

func drawSegments(t *rapid.T, now time.Time, unit schema.Unit) []retention.Segment {
	n := rapid.IntRange(0, 8).Draw(t, "segments")
	seq := rapid.Uint64Range(0, 5).Draw(t, "first")
	segs := make([]retention.Segment, n)
	for i := range segs {
		count := rapid.Uint64Range(1, 5).Draw(t, "count")
		last := units(now, unit) + rapid.Int64Range(-50, 10).Draw(t, "ts")
		segs[i] = retention.Segment{
			First: seq, End: seq + count,
			MinTime: last - rapid.Int64Range(0, 9).Draw(t, "span"), MaxTime: last,
			SealedAt: rapid.SampledFrom([]int64{0, now.UnixMilli(), now.UnixMilli() - 1, now.UnixMilli() - 7, now.UnixMilli() - 8}).Draw(t, "sealed"),
			Bytes:    rapid.Int64Range(64, 300).Draw(t, "bytes"),
		}
		seq += count + rapid.SampledFrom([]uint64{0, 0, 3}).Draw(t, "gap")
	}
	return segs
}

func drawTotals(t *rapid.T, segs []retention.Segment) (total retention.Totals) {
	for _, s := range segs {
		total.Records += s.Records()
		total.Bytes += s.Bytes
	}
	total.Records += rapid.Uint64Range(0, 6).Draw(t, "active records")
	total.Bytes += rapid.Int64Range(0, 200).Draw(t, "active bytes")
	return total
}

func drawPolicy(t *rapid.T, segs []retention.Segment, now time.Time, unit schema.Unit) (p retention.Policy) {
	is := func(rule string) bool { return rapid.IntRange(0, 2).Draw(t, rule) == 0 }
	if is("before") {
		at := units(now, unit) + rapid.Int64Range(-60, 20).Draw(t, "before time")
		p.BeforeTime = &at
	}
	if is("before-seq") {
		p.BeforeSeq = rapid.Uint64Range(0, 50).Draw(t, "seq")
	}
	if is("keep-records") {
		p.KeepRecords = rapid.Uint64Range(0, 50).Draw(t, "records")
	}
	if is("max-bytes") {
		p.MaxBytes = rapid.Int64Range(0, 3000).Draw(t, "bytes")
	}
	if is("max-age") {
		p.MaxAge = time.Duration(rapid.Int64Range(0, 60e9/unit.PerSecond()).Draw(t, "age"))
	}
	if is("max-write-age") {
		p.MaxWriteAge = time.Duration(rapid.Int64Range(0, int64(10*time.Millisecond)).Draw(t, "write age"))
	}
	return p
}

// modelSelect asks each rule alone, with big integers and quadratic sums.
func modelSelect(p retention.Policy, segs []retention.Segment, total retention.Totals, now time.Time, unit schema.Unit) (out []retention.Dropped) {
	for i, s := range segs {
		throughRecords, throughBytes := total.Records, total.Bytes
		beforeBytes := total.Bytes
		for j := 0; j <= i; j++ {
			beforeBytes = throughBytes
			throughRecords -= segs[j].End - segs[j].First
			throughBytes -= segs[j].Bytes
		}
		reason := ""
		rule := func(drops bool, name string) {
			if drops && reason == "" {
				reason = name
			}
		}
		rule(p.BeforeTime != nil && s.MaxTime < deref(p.BeforeTime), retention.ReasonBeforeTime)
		rule(p.BeforeSeq > 0 && s.End <= p.BeforeSeq, retention.ReasonBeforeSeq)
		rule(p.KeepRecords > 0 && throughRecords >= p.KeepRecords, retention.ReasonKeepRecords)
		rule(p.MaxBytes > 0 && beforeBytes > p.MaxBytes, retention.ReasonMaxBytes)
		rule(p.MaxAge > 0 && older(s.MaxTime, unit.PerSecond(), now, p.MaxAge), retention.ReasonMaxAge)
		rule(p.MaxWriteAge > 0 && s.SealedAt != 0 && older(s.SealedAt, 1000, now, p.MaxWriteAge), retention.ReasonMaxWriteAge)
		if reason != "" {
			out = append(out, retention.Dropped{Segment: s, Reason: reason})
		}
	}
	return out
}

func deref(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// older reports whether ts lies further back from now than age, in nanoseconds
// of any size.
func older(ts, perSecond int64, now time.Time, age time.Duration) bool {
	at := new(big.Int).Mul(big.NewInt(ts), big.NewInt(int64(time.Second)/perSecond))
	cut := new(big.Int).Mul(big.NewInt(now.Unix()), big.NewInt(int64(time.Second)))
	cut.Add(cut, big.NewInt(int64(now.Nanosecond())))
	cut.Sub(cut, big.NewInt(int64(age)))
	return at.Cmp(cut) < 0
}

func units(now time.Time, unit schema.Unit) int64 {
	return now.Unix()*unit.PerSecond() + int64(now.Nanosecond())/(int64(time.Second)/unit.PerSecond())
}
