package retention

import (
	"cmp"
	"math"
	"slices"
	"time"

	"example.com/ledger/schema"
)

// The rules' names: the Reason of a Dropped, and the names of the flags that set
// them. They hold no value that changes from run to run, so that neighbouring
// ranges with one reason can be merged.
const (
	ReasonBeforeTime  = "before"
	ReasonBeforeSeq   = "before-seq"
	ReasonKeepRecords = "keep-records"
	ReasonMaxBytes    = "max-bytes"
	ReasonMaxAge      = "max-age"
	ReasonMaxWriteAge = "max-write-age"
)

// A Segment is what a policy looks at: facts of one sealed segment's header.
type Segment struct {
	First    uint64 // its first sequence number
	End      uint64 // one above its last; at least First
	MinTime  int64  // the smallest timestamp in it, in the stream's unit
	MaxTime  int64  // the largest
	SealedAt int64  // when it was sealed, Unix milliseconds; 0 where not known
	Bytes    int64  // the file's size
}

// Records returns how many records the segment has.
func (s Segment) Records() uint64 { return s.End - s.First }

// Totals is the size of the whole stream: the sealed segments that a policy
// chooses from, those on the way to be sealed, and the active one.
type Totals struct {
	Records uint64
	Bytes   int64
}

// A Dropped is a segment that goes, and the rule that drops it.
type Dropped struct {
	Segment
	Reason string // one of the Reason constants
}

// Select returns the segments that p drops, by sequence number, each with the
// first rule, in the order of Policy's fields, that drops it. segs are the sealed
// segments, in any order; it is not changed. now is the present for MaxAge and
// MaxWriteAge; unit is that of the stream's timestamps,
// nanoseconds if it is none. A rule with a negative
// value, which Validate refuses, counts as not set.
//
// A total below the sum over segs counts as that sum.
func (p Policy) Select(segs []Segment, total Totals, now time.Time, unit schema.Unit) []Dropped {
	if len(segs) == 0 || p.IsZero() {
		return nil
	}
	segs = slices.Clone(segs)
	slices.SortStableFunc(segs, func(a, b Segment) int { return cmp.Compare(a.First, b.First) })
	byRecords := p.dropByRecords(segs, total.Records)
	byBytes := p.dropByBytes(segs, total.Bytes)
	perSecond := unit.PerSecond()
	if perSecond == 0 {
		perSecond = schema.Nanosecond.PerSecond()
	}
	ageCut := cutoff(now, p.MaxAge, perSecond)
	writeCut := cutoff(now, p.MaxWriteAge, 1000)

	var out []Dropped
	for i, s := range segs {
		reason := ""
		switch {
		case p.BeforeTime != nil && s.MaxTime < *p.BeforeTime:
			reason = ReasonBeforeTime
		case p.BeforeSeq != 0 && s.End <= p.BeforeSeq:
			reason = ReasonBeforeSeq
		case i < byRecords:
			reason = ReasonKeepRecords
		case i < byBytes:
			reason = ReasonMaxBytes
		case p.MaxAge > 0 && s.MaxTime < ageCut:
			reason = ReasonMaxAge
		case p.MaxWriteAge > 0 && s.SealedAt != 0 && s.SealedAt < writeCut:
			reason = ReasonMaxWriteAge
		default:
			continue
		}
		out = append(out, Dropped{Segment: s, Reason: reason})
	}
	return out
}

// dropByRecords returns how many of the oldest segments KeepRecords drops.
func (p Policy) dropByRecords(segs []Segment, total uint64) int {
	if p.KeepRecords == 0 {
		return 0
	}
	sealed := uint64(0)
	for _, s := range segs {
		sealed += s.Records()
	}
	left := max(total, sealed)
	for i, s := range segs {
		if left -= s.Records(); left < p.KeepRecords {
			return i
		}
	}
	return len(segs)
}

// dropByBytes returns how many of the oldest segments MaxBytes drops.
func (p Policy) dropByBytes(segs []Segment, total int64) int {
	if p.MaxBytes <= 0 {
		return 0
	}
	sealed := int64(0)
	for _, s := range segs {
		sealed += s.Bytes
	}
	left := max(total, sealed)
	for i, s := range segs {
		if left <= p.MaxBytes {
			return i
		}
		left -= s.Bytes
	}
	return len(segs)
}

// cutoff returns the smallest timestamp, of perSecond units a second since 1970,
// that is not further back from now than age. It is clamped to an int64.
func cutoff(now time.Time, age time.Duration, perSecond int64) int64 {
	at := now.Add(-age)
	sec, nanos := at.Unix(), int64(at.Nanosecond())
	// A timestamp inside the unit that now-age cuts through is older than it.
	nanosPerUnit := int64(time.Second) / perSecond
	part := (nanos + nanosPerUnit - 1) / nanosPerUnit
	if sec < 0 { // toward zero, so that the product fits wherever the sum does
		sec, part = sec+1, part-perSecond
	}
	switch whole := sec * perSecond; {
	case sec > math.MaxInt64/perSecond || sec >= 0 && whole > math.MaxInt64-max(part, 0):
		return math.MaxInt64
	case sec < math.MinInt64/perSecond || sec <= 0 && whole < math.MinInt64-min(part, 0):
		return math.MinInt64
	default:
		return whole + part
	}
}
