package stream

import (
	"errors"
	"iter"
	"sort"

	"example.com/ledger/internal/disk"
	"example.com/ledger/segment"
)

// A Batch is a run of records of one segment. It is valid until the loop's next
// turn: the memory behind it may be unmapped then. Copy what is to be kept.
type Batch struct {
	g segment.Segment
}

// First is the number of the first record.
func (b Batch) First() Seq { return Seq(b.g.First()) }

// End is the number behind the last record.
func (b Batch) End() Seq { return Seq(b.g.First()) + Seq(b.g.Len()) }

// Len is the number of records.
func (b Batch) Len() int { return b.g.Len() }

// Segment returns the records for segment.ColumnOf and the like: typed columns,
// without copying.
//
// Columns of a sealed file are checked when they are first touched, and are
// bytes of a mapping from then on: if somebody cuts the file short, the
// caller's own loop over them faults, which nothing can prevent.
func (b Batch) Segment() segment.Segment { return b.g }

// Record appends record i of the batch in the form of docs/format.md to dst.
func (b Batch) Record(dst []byte, i int) ([]byte, error) { return b.g.Record(dst, i) }

// Rows appends all records of the batch in the form of docs/format.md to dst.
func (b Batch) Rows(dst []byte) ([]byte, error) { return b.g.Rows(dst, 0, b.g.Len()) }

// Range yields the records of [from, to) in order, a batch for each segment.
// A to above the end means the end.
//
// Records that are gone come as an error with an empty batch: a *DroppedError
// names the range and why, and the loop may go on behind it. Begin at First to
// not hear of what retention took. Every other error ends the loop.
func (n *Snapshot) Range(from, to Seq) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for p, err := range n.Parts(from, to) {
			if err == nil {
				p.Count()
				if !p.each(yield) {
					return
				}
				continue
			}
			if !yield(Batch{}, err) || !errors.Is(err, ErrDropped) {
				return
			}
		}
	}
}

// Backward yields the batches of Range from the last to the first; within a
// batch the records are in order.
func (n *Snapshot) Backward(from, to Seq) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		type step struct {
			p   Part
			err error
		}
		var steps []step
		for p, err := range n.Parts(from, to) {
			steps = append(steps, step{p, err})
		}
		for i := len(steps) - 1; i >= 0; i-- {
			if err := steps[i].err; err != nil {
				if !yield(Batch{}, err) || !errors.Is(err, ErrDropped) {
					return
				}
				continue
			}
			steps[i].p.Count()
			if !steps[i].p.each(yield) {
				return
			}
		}
	}
}

// each yields the part as one batch. It tells whether the loop goes on.
func (p Part) each(yield func(Batch, error) bool) bool {
	g, err := p.Acquire()
	if err != nil {
		return yield(Batch{}, err) && errors.Is(err, ErrDropped)
	}
	defer p.Release()
	return yield(Batch{g}, nil)
}

// TimeRange yields the records whose time lies in [from, to), in the stream's
// unit, by number. Segments whose header rules them out are skipped, and Stats
// counts them. Times may be out of order; a batch is a run of neighbours that
// all lie in the range. Ranges that are gone are passed over: what times they
// had is not known.
func (n *Snapshot) TimeRange(from, to int64) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for p, err := range n.Parts(Seq(n.first), Seq(n.end)) {
			if errors.Is(err, ErrDropped) {
				continue
			}
			if err != nil {
				yield(Batch{}, err)
				return
			}
			if h, ok := p.Header(); ok && (h.MaxTime < from || h.MinTime >= to) {
				p.Skip()
				continue
			}
			p.Count()
			if !p.times(from, to, yield) {
				return
			}
		}
	}
}

// times yields the runs of records whose time lies in [from, to).
func (p Part) times(from, to int64, yield func(Batch, error) bool) bool {
	g, err := p.Acquire()
	if err != nil {
		return yield(Batch{}, err) && errors.Is(err, ErrDropped)
	}
	defer p.Release()
	ts, err := segment.ColumnOf[int64](g, "ts")
	if err != nil {
		yield(Batch{}, err)
		return false
	}
	if h, ok := p.Header(); ok && h.Sorted() {
		var lo, hi int
		err := disk.Guard(func() error {
			lo = sort.Search(ts.Len(), func(i int) bool { return ts.At(i) >= from })
			hi = lo + sort.Search(ts.Len()-lo, func(i int) bool { return ts.At(lo+i) >= to })
			return nil
		})
		if err != nil {
			yield(Batch{}, err)
			return false
		}
		return lo == hi || yield(Batch{g.Slice(lo, hi)}, nil)
	}
	for i := 0; i < ts.Len(); {
		var lo, hi int
		err := disk.Guard(func() error {
			lo, hi = run(ts, i, from, to)
			return nil
		})
		if err != nil {
			yield(Batch{}, err)
			return false
		}
		if lo < hi && !yield(Batch{g.Slice(lo, hi)}, nil) {
			return false
		}
		i = hi
	}
	return true
}

// run finds the next run of times in [from, to) at or behind i; without one lo
// and hi are the column's length.
func run(ts segment.Column[int64], i int, from, to int64) (lo, hi int) {
	n := ts.Len()
	for i < n && (ts.At(i) < from || ts.At(i) >= to) {
		i++
	}
	lo = i
	for i < n && ts.At(i) >= from && ts.At(i) < to {
		i++
	}
	return lo, i
}
