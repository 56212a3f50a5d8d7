package ledger

import (
	"container/heap"
	"errors"
	"iter"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// An Entry is one record of a tape.
type Entry struct {
	Stream int        // index of its snapshot in the call to Tape
	Seq    stream.Seq // with Stream, the record's identity
	Time   int64      // in its stream's unit
	Record []byte     // in the form of docs/format.md; valid until the loop's next turn
}

// Tape yields the records of several snapshots as one, by time: of partitions
// by symbol, say. Among equal times the earlier snapshot comes first. The
// records of one stream stay in its own order, also where its times go back: an
// entry is placed by the next record of its stream. The units of the streams
// must be the same for the order to mean anything.
//
// Ranges that are gone are passed over; every other error is the last pair.
func Tape(snapshots ...*stream.Snapshot) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var h reels
		for i, n := range snapshots {
			r := &reel{index: i, width: n.Schema().Width()}
			next, stop := iter.Pull2(n.Range(n.First(), n.End()))
			r.pull = next
			defer stop()
			more, err := r.advance()
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if more {
				h = append(h, r)
			}
		}
		heap.Init(&h)
		for len(h) > 0 {
			r := h[0]
			if !yield(Entry{Stream: r.index, Seq: stream.Seq(schema.Seq(r.record)), Time: r.time, Record: r.record}, nil) {
				return
			}
			more, err := r.advance()
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !more {
				heap.Pop(&h)
				continue
			}
			heap.Fix(&h, 0)
		}
	}
}

// A reel is one stream of a tape, at its present record.
type reel struct {
	index  int
	width  int
	pull   func() (stream.Batch, error, bool)
	batch  stream.Batch
	at     int    // of the chunk's beginning in the batch
	rows   []byte // records read ahead, reused
	left   []byte // of rows, from the present record on
	record []byte
	time   int64
}

// ahead is how many records of a stream are gathered at once.
const ahead = 256

// advance goes to the next record. more is false at the end.
func (r *reel) advance() (more bool, err error) {
	for len(r.left) == 0 {
		if r.at >= r.batch.Len() {
			b, err, ok := r.pull()
			if !ok {
				return false, nil
			}
			if err != nil {
				if errors.Is(err, stream.ErrDropped) {
					continue
				}
				return false, err
			}
			r.batch, r.at = b, 0
			continue
		}
		n := min(ahead, r.batch.Len()-r.at)
		if r.rows, err = r.batch.Segment().Rows(r.rows[:0], r.at, r.at+n); err != nil {
			return false, err
		}
		r.at += n
		r.left = r.rows
	}
	r.record, r.left = r.left[:r.width:r.width], r.left[r.width:]
	r.time = schema.Time(r.record)
	return true, nil
}

// reels is a heap of streams by their present record's time.
type reels []*reel

func (h reels) Len() int { return len(h) }
func (h reels) Less(i, k int) bool {
	return h[i].time < h[k].time || h[i].time == h[k].time && h[i].index < h[k].index
}
func (h reels) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *reels) Push(x any)   { *h = append(*h, x.(*reel)) }
func (h *reels) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
