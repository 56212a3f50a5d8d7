package arrow

import (
	"errors"
	"fmt"
	"sync/atomic"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"example.com/ledger/query"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// Options say what of a snapshot is shown, and how. The zero value shows all.
type Options struct {
	// Columns are the columns, in this order; none means seq, ts and all fields.
	Columns []string
	// From and To are the numbers [From, To). From is raised to the snapshot's
	// First, and To 0 is its End.
	From, To stream.Seq
	// Where leaves out records for which it doesn't hold; nil keeps all. What is
	// kept of a segment is then copied.
	Where *query.Filter
	// BatchRecords is how many records a batch has at most. 0 means as many as a
	// segment has.
	BatchRecords int
	// Raw leaves ts and scaled fields the integers that they are stored as.
	Raw bool
	// Texts are what the numbers of a field stand for: number n is entry n−1. The
	// field's column is strings then; a number that has no text is its digits. Raw
	// and fields with a scale have none. The texts of one batch's column may have
	// 2 GiB.
	Texts map[string][]string
	// Dropped is told of ranges in between that are gone. If it is nil such a
	// range ends the reading with its *stream.DroppedError.
	Dropped func(*stream.DroppedError)
	// Allocator is for what is copied; nil means memory.DefaultAllocator.
	Allocator memory.Allocator
}

// A Reader reads a snapshot as record batches, none of which is empty. It is an
// array.RecordReader: begin with Next, look at Err when that is false, and Release
// it. One goroutine at a time may use it, but for Retain and Release, which any
// may call.
type Reader struct {
	refs atomic.Int64
	c    *Converter
	o    Options
	next func() (stream.Part, error, bool)
	stop func()

	part segment.Segment // the one being read
	pin  *pin            // that holds it
	at   int             // records of it that were given
	cur  apache.RecordBatch
	err  error
}

var _ array.RecordReader = (*Reader)(nil)

// NewReader returns a Reader of a snapshot, which must stay open as long as Next
// is called; batches live longer (see the package's comment). Nothing is opened
// before the first Next. A column that isn't there, or is named twice, is
// segment.ErrField, and a negative BatchRecords stream.ErrOption.
func NewReader(v *stream.Snapshot, o Options) (*Reader, error) {
	c, err := NewConverter(v.Schema(), o)
	if err != nil {
		return nil, err
	}
	if o.BatchRecords < 0 {
		return nil, fmt.Errorf("%w: batches of %d records", stream.ErrOption, o.BatchRecords)
	}
	o.From = max(o.From, v.First())
	if o.To == 0 || o.To > v.End() {
		o.To = v.End()
	}
	r := &Reader{c: c, o: o}
	r.next, r.stop = pull(v.Parts(o.From, o.To))
	r.refs.Store(1)
	return r, nil
}

// Schema returns the schema of the batches.
func (r *Reader) Schema() *apache.Schema { return r.c.schema }

// Retain adds a reference.
func (r *Reader) Retain() { r.refs.Add(1) }

// Release gives a reference back. The last one ends the reading, and releases the
// batch that RecordBatch returns.
func (r *Reader) Release() {
	if r.refs.Add(-1) == 0 {
		r.end()
		r.drop()
	}
}

// RecordBatch returns the batch that Next found. The reader's own reference on it
// is given back at the next Next: Retain it to keep it.
func (r *Reader) RecordBatch() apache.RecordBatch { return r.cur }

// Record is RecordBatch, under its old name.
func (r *Reader) Record() apache.RecordBatch { return r.cur }

// Err returns what ended the reading: nil at the end, damage, ErrClosed of the
// snapshot, ErrDropped.
func (r *Reader) Err() error { return r.err }

// Next goes on to the next batch. It is false at the end and after an error.
func (r *Reader) Next() bool {
	r.drop()
	for r.err == nil {
		if r.pin != nil && r.at == r.part.Len() {
			r.pin.unpin()
			r.pin = nil
		}
		if r.pin == nil && !r.open() {
			break
		}
		if r.cur, r.err = r.batch(); r.cur != nil {
			return true
		}
	}
	r.end()
	return false
}

// open goes on to the next part. It is false at the end and after an error.
func (r *Reader) open() bool {
	for {
		p, err, ok := r.next()
		var dropped *stream.DroppedError
		switch {
		case !ok:
			return false
		case err == nil:
			r.part, err = p.Acquire()
		}
		switch {
		case err == nil:
			p.Count()
			r.pin, r.at = newPin(p.Release), 0
			return true
		case errors.As(err, &dropped) && r.o.Dropped != nil:
			r.o.Dropped(dropped)
		default:
			r.err = err
			return false
		}
	}
}

// batch makes a batch of the next records of the part, nil if none is kept.
func (r *Reader) batch() (apache.RecordBatch, error) {
	n := r.part.Len() - r.at
	if r.o.BatchRecords > 0 {
		n = min(n, r.o.BatchRecords)
	}
	g := r.part.Slice(r.at, r.at+n)
	r.at += n
	if r.o.Where == nil || r.o.Where.All() {
		return r.c.batch(g, nil, r.pin)
	}
	at, err := r.o.Where.Select(make([]uint32, 0, n), g)
	if err != nil || len(at) == 0 {
		return nil, err
	}
	return r.c.batch(g, at, nil)
}

// drop gives the present batch back.
func (r *Reader) drop() {
	if r.cur != nil {
		r.cur.Release()
		r.cur = nil
	}
}

// end gives back what reading on would need.
func (r *Reader) end() {
	r.stop()
	if r.pin != nil {
		r.pin.unpin()
		r.pin = nil
	}
	r.part = segment.Segment{}
}
