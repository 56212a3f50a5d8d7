package cli

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/internal/disk"
	"example.com/ledger/query"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// rangeFlags are those of verbs that go over records: half-open ranges of
// numbers and of times, and a condition. All that are given hold together.
type rangeFlags struct {
	from, to     flagValue[uint64]
	since, until string
	where        string
}

func (f *rangeFlags) add(cmd *cobra.Command) {
	f.from = flagValue[uint64]{name: "seq", parse: parseSeq}
	f.to = flagValue[uint64]{name: "seq", parse: parseSeq}
	cmd.Flags().Var(&f.from, "from", "from this `seq` on")
	cmd.Flags().Var(&f.to, "to", "up to this `seq`, itself not included")
	cmd.Flags().StringVar(&f.since, "since", "", "from this `time` on: RFC 3339, a date, or a number with ns, us, ms or s")
	cmd.Flags().StringVar(&f.until, "until", "", "up to this `time`, itself not included")
	addWhere(cmd, &f.where)
}

// A scan goes over the records of a snapshot that lie in its ranges and for which
// its condition holds.
type scan struct {
	snap     *stream.Snapshot
	from, to stream.Seq
	times    bool // since and until count
	since    int64
	until    int64 // itself not included, unless it is the largest there is and open is set
	open     bool
	reverse  bool

	holds  query.Pred    // the condition, the range of times included
	filter *query.Filter // the same; nil if it holds for every record

	// gone is told of ranges in between that retention or a loss has taken.
	gone func(*stream.DroppedError)
	// done is told how many of the range's records have been passed.
	done func(records uint64)
}

// scan returns the scan that the flags ask for, over a snapshot of the stream in
// dir. What can't be read is a usage error.
func (f *rangeFlags) scan(snap *stream.Snapshot, dir string) (*scan, error) {
	s := &scan{snap: snap, from: begin(snap), to: snap.End(), since: math.MinInt64, until: math.MaxInt64, open: f.until == ""}
	if f.from.set() {
		s.from = stream.Seq(f.from.v)
	}
	if f.to.set() {
		s.to = min(s.to, stream.Seq(f.to.v))
	}
	for _, t := range []struct {
		flag, text string
		to         *int64
	}{{"--since", f.since, &s.since}, {"--until", f.until, &s.until}} {
		if t.text == "" {
			continue
		}
		ts, err := value.ParseBound(t.text, snap.Schema().Unit())
		if err != nil {
			return nil, usagef("%s: %w", t.flag, err)
		}
		s.times, *t.to = true, ts
	}
	return s, s.where(f.where, dir)
}

// begin returns the number where a stream begins: behind what drops.json names at
// its front. Records that are missing there and aren't named are damage, which a
// scan from here on finds.
func begin(snap *stream.Snapshot) stream.Seq {
	var from stream.Seq
	for _, d := range snap.Dropped() {
		if d.From <= from {
			from = max(from, d.To)
		}
	}
	return min(from, snap.End())
}

// records returns how many numbers the scan's range has.
func (s *scan) records() uint64 {
	if s.from >= s.to {
		return 0
	}
	return uint64(s.to - s.from)
}

// errStop ends a scan early without an error.
var errStop = errors.New("enough")

// run calls f with the positions in g of matching records, in the scan's order,
// a block at a time. g and at are valid during the call.
func (s *scan) run(ctx context.Context, f func(g segment.Segment, at []uint32) error) error {
	err := s.parts(func(p stream.Part) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.rulesOut(p) {
			p.Skip()
			s.pass(p.Len())
			return nil
		}
		g, err := p.Acquire()
		if err != nil {
			return err
		}
		defer p.Release()
		p.Count()
		return disk.Guard(func() error { return s.blocks(ctx, g, f) })
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// rulesOut tells whether the condition, the range of times included, can hold for
// no record of a part, without reading one.
func (s *scan) rulesOut(p stream.Part) bool { return s.filter != nil && !s.filter.May(p) }

// pass tells that n more records have been passed.
func (s *scan) pass(n int) {
	if s.done != nil {
		s.done(uint64(n))
	}
}

// parts calls f for each segment of the range, in the scan's order.
func (s *scan) parts(f func(stream.Part) error) error {
	var backward []stream.Part
	for p, err := range s.snap.Parts(s.from, s.to) {
		var dropped *stream.DroppedError
		switch {
		case errors.As(err, &dropped):
			if s.gone != nil {
				s.gone(&stream.DroppedError{From: max(s.from, dropped.From), To: min(s.to, dropped.To), Reason: dropped.Reason})
			}
			continue
		case err != nil:
			return err
		case s.reverse:
			backward = append(backward, p)
			continue
		}
		if err := f(p); err != nil {
			return err
		}
	}
	for _, p := range slices.Backward(backward) {
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}

// blockRecords is how many records are looked at between two calls.
const blockRecords = 4096

func (s *scan) blocks(ctx context.Context, g segment.Segment, f func(segment.Segment, []uint32) error) error {
	n := g.Len()
	at := make([]uint32, 0, min(n, blockRecords))
	for done := 0; done < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		size := min(blockRecords, n-done)
		lo := done
		if s.reverse {
			lo = n - done - size
		}
		var err error
		if at, err = s.matches(at[:0], g, lo, lo+size); err != nil {
			return err
		}
		if s.reverse {
			slices.Reverse(at)
		}
		if len(at) > 0 {
			if err := f(g, at); err != nil {
				return err
			}
		}
		done += size
		s.pass(size)
	}
	return nil
}

// matches appends the positions in [lo, hi) of g that the scan asks for.
func (s *scan) matches(at []uint32, g segment.Segment, lo, hi int) ([]uint32, error) {
	if s.filter == nil {
		for i := lo; i < hi; i++ {
			at = append(at, uint32(i))
		}
		return at, nil
	}
	at, err := s.filter.Select(at, g.Slice(lo, hi))
	for i := range at {
		at[i] += uint32(lo)
	}
	return at, err
}
