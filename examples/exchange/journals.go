package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// Records in a segment of each journal: few, so that an hour of trading makes
// several. There are about six orders to a fill.
const (
	ordersCapacity = 16384
	fillsCapacity  = 4096
)

// journals are the two streams of a trading day. What one of them has, the other
// doesn't: the orders are the truth, from which all fills can be made again.
type journals struct {
	dir    string
	orders *stream.Stream // Commit: an order is on disk before it is matched
	fills  *stream.Stream // Sealed: what a power loss takes is made again from the orders
}

// openJournals opens the day in dir, or begins it. Prices have scale decimal digits.
func openJournals(dir string, scale uint8) (*journals, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	j := &journals{dir: dir}
	var err error
	j.orders, err = openOrCreate(j.ordersDir(), "order", scale, stream.Options{
		Capacity: ordersCapacity, Durability: stream.Commit,
	})
	if err != nil {
		return nil, err
	}
	j.fills, err = openOrCreate(j.fillsDir(), "fill", scale, stream.Options{
		Capacity: fillsCapacity, Durability: stream.Sealed,
	})
	if err != nil {
		return nil, errors.Join(err, j.orders.Close())
	}
	return j, nil
}

func (j *journals) ordersDir() string { return filepath.Join(j.dir, "orders") }
func (j *journals) fillsDir() string  { return filepath.Join(j.dir, "fills") }

// close ends both streams. It may be called again.
func (j *journals) close() error {
	return errors.Join(closed(j.orders.Close()), closed(j.fills.Close()))
}

func closed(err error) error {
	if errors.Is(err, stream.ErrClosed) {
		return nil
	}
	return err
}

func openOrCreate(dir, shape string, scale uint8, o stream.Options) (*stream.Stream, error) {
	var err error
	if o.Schema, err = shapes.Scaled(shape, scale, 0); err != nil {
		return nil, err
	}
	s, err := stream.Open(dir, stream.OpenOptions{Schema: o.Schema, Durability: &o.Durability})
	if errors.Is(err, stream.ErrNotFound) {
		s, err = stream.Create(dir, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return s, nil
}

// read calls do with each record that the snapshot of a stream has, from the
// first on. T is the struct of the stream's shape; do may keep a copy, not the
// pointer. Records that are gone (see drops.json) are passed over if lossy, and
// are an error otherwise.
func read[T any](s *stream.Stream, lossy bool, do func(*T) error) error {
	typed, err := stream.Bind[T](s)
	if err != nil {
		return err
	}
	v, err := s.Snapshot()
	if err != nil {
		return err
	}
	defer v.Close()
	buf := make([]T, 1024)
	for at := v.First(); at < v.End(); {
		n, err := typed.Read(buf, v, at)
		for i := range buf[:n] {
			if err := do(&buf[i]); err != nil {
				return err
			}
		}
		at += stream.Seq(n)
		if gone, ok := errors.AsType[*stream.DroppedError](err); ok && lossy && gone.To > at {
			at = gone.To
		} else if err != nil {
			return err
		}
	}
	return nil
}
