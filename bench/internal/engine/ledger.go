package engine

import (
	"errors"
	"os"
	"path/filepath"

	"example.com/ledger/retention"
	"example.com/ledger/segment"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

func init() {
	for _, d := range []stream.Durability{stream.Commit, stream.Sealed, stream.Os} {
		register(Kind{
			Name: "Ledger " + d.String(), Sync: d == stream.Commit, NoSync: d != stream.Commit,
			Open: func(dir string, _ Options) (Engine, error) { return openLedger(dir, d) },
		})
	}
}

// A Ledger is a stream of fills with default options but for its durability.
type Ledger struct {
	*stream.Stream
	snap *stream.Snapshot
}

func openLedger(dir string, d stream.Durability) (*Ledger, error) {
	dir = filepath.Join(dir, "ledger")
	s, err := stream.Open(dir, stream.OpenOptions{})
	if errors.Is(err, stream.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		s, err = stream.Create(dir, stream.Options{Schema: shapes.FillSchema(), Durability: d})
	}
	if err != nil {
		return nil, err
	}
	return &Ledger{Stream: s}, nil
}

// Append is Stream.Append.
func (l *Ledger) Append(recs []byte) error {
	_, _, err := l.Stream.Append(recs)
	return err
}

// Close closes the stream and what was read of it.
func (l *Ledger) Close() error {
	return errors.Join(l.forget(), l.Stream.Close())
}

// view takes a snapshot at the first read.
func (l *Ledger) view() (*stream.Snapshot, error) {
	if l.snap != nil {
		return l.snap, nil
	}
	v, err := l.Stream.Snapshot()
	l.snap = v
	return v, err
}

func (l *Ledger) forget() error {
	if l.snap == nil {
		return nil
	}
	v := l.snap
	l.snap = nil
	return v.Close()
}

// Get reads one record.
func (l *Ledger) Get(dst []byte, seq uint64) ([]byte, error) {
	v, err := l.view()
	if err != nil {
		return dst, err
	}
	return v.Get(dst, stream.Seq(seq))
}

// Scan reads whole records, segment by segment.
func (l *Ledger) Scan(from, to uint64, visit func([]byte)) error {
	v, err := l.view()
	if err != nil {
		return err
	}
	var rows []byte
	for b, err := range v.Range(stream.Seq(from), stream.Seq(to)) {
		if err != nil {
			return err
		}
		if rows, err = b.Rows(rows[:0]); err != nil {
			return err
		}
		visit(rows)
	}
	return nil
}

// TimeRange reads whole records by time.
func (l *Ledger) TimeRange(from, to int64, visit func([]byte)) error {
	v, err := l.view()
	if err != nil {
		return err
	}
	var rows []byte
	for b, err := range v.TimeRange(from, to) {
		if err != nil {
			return err
		}
		if rows, err = b.Rows(rows[:0]); err != nil {
			return err
		}
		visit(rows)
	}
	return nil
}

// SumQuantity reads the one column.
func (l *Ledger) SumQuantity(from, to uint64) (sum int64, err error) {
	v, err := l.view()
	if err != nil {
		return 0, err
	}
	for b, err := range v.Range(stream.Seq(from), stream.Seq(to)) {
		if err != nil {
			return 0, err
		}
		c, err := segment.ColumnOf[int32](b.Segment(), "qty")
		if err != nil {
			return 0, err
		}
		if q, ok := c.Slice(); ok {
			for _, x := range q {
				sum += int64(x)
			}
			continue
		}
		for i := range c.Len() {
			sum += int64(c.At(i))
		}
	}
	return sum, nil
}

// Drop applies a retention policy once. The snapshot is given back first.
func (l *Ledger) Drop(seq uint64) error {
	if err := l.forget(); err != nil {
		return err
	}
	_, err := l.Retain(retention.Policy{BeforeSeq: seq}, false)
	return err
}
