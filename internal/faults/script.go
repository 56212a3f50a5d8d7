package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"example.com/ledger/internal/disk"
	"example.com/ledger/retention"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// Capacity of the segments of a writer's stream, records: so few that a short
// script rolls often.
const Capacity = 8

// A Writer runs scripts on one stream and tells what it does.
type Writer struct {
	FS       disk.FS
	Dir      string
	Mode     stream.Durability
	Layout   segment.Layout
	Capacity int // of a new stream, records
	Tell     *Teller

	s    *stream.Stream
	next uint64
}

// errGivenUp ends a script: its error was told already.
var errGivenUp = errors.New("faults: the script can't go on")

// Script makes a stream, or opens it, and does everything that a writer can do,
// in one fixed order. An append that fails is tried again, and a poisoned stream
// opened again, so that a script is done to its end where errors pass.
func (w *Writer) Script() error {
	steps := []func() error{
		w.open,
		w.append(1), w.append(2), w.append(3), w.append(5), w.append(1),
		w.append(2 * Capacity), w.sync, w.append(2), w.seal, w.append(3), w.append(Capacity),
		w.retain(12), w.append(7), w.append(7), w.append(7),
		w.close, w.open, w.append(4), w.append(1),
		w.close, w.alter(12), w.open, w.append(13), w.append(12), w.append(3), w.retain(20), w.append(2),
		w.close,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			if w.s != nil {
				_ = w.s.Close()
			}
			return err
		}
	}
	w.Tell.Say("end")
	return nil
}

// tries is how often a step that fails is done again.
const tries = 3

// try does a step again while it fails.
func (w *Writer) try(what string, do func() error) error {
	for range tries {
		err := do()
		if err == nil {
			return nil
		}
		w.Tell.Say("fail %s: %v", what, err)
		if errors.Is(err, stream.ErrCorrupt) {
			w.Tell.Say("bug %s: %v", what, err)
			return errGivenUp
		}
		if w.s != nil && errors.Is(err, stream.ErrPoisoned) {
			if err := w.afresh(); err != nil {
				return err
			}
		}
	}
	return errGivenUp
}

// afresh opens a poisoned stream again. Until then nothing may be acknowledged.
func (w *Writer) afresh() error {
	if _, _, err := w.s.Append(Batch(w.next, 1)); !errors.Is(err, stream.ErrPoisoned) {
		w.Tell.Say("bug append after a failed sync: %v", err)
	}
	if err := w.s.Sync(); !errors.Is(err, stream.ErrPoisoned) {
		w.Tell.Say("bug sync after a failed sync: %v", err)
	}
	if err := w.s.Close(); !errors.Is(err, stream.ErrPoisoned) {
		w.Tell.Say("bug close after a failed sync: %v", err)
	}
	return w.open()
}

func (w *Writer) open() error {
	w.s = nil
	return w.try("open", func() error {
		s, err := stream.OpenOn(w.FS, w.Dir, stream.OpenOptions{})
		if errors.Is(err, stream.ErrNotFound) {
			s, err = stream.CreateOn(w.FS, w.Dir, stream.Options{Schema: Schema(), Capacity: w.Capacity, Durability: w.Mode, Layout: w.Layout})
		}
		if err != nil {
			return err
		}
		w.s, w.next = s, uint64(s.Cursors().Appended)
		w.Tell.Say("open %d", w.next)
		return nil
	})
}

func (w *Writer) append(n int) func() error {
	return func() error {
		return w.try("append", func() error {
			from := uint64(w.s.Cursors().Appended)
			w.Tell.Say("try %d %d", from, n)
			if _, _, err := w.s.AppendAt(stream.Seq(from), Batch(from, n)); err != nil {
				return err
			}
			w.next = from + uint64(n)
			w.Tell.Say("ack %d %d %d", from, n, w.s.Cursors().Durable)
			return nil
		})
	}
}

func (w *Writer) sync() error {
	return w.try("sync", func() error {
		if err := w.s.Sync(); err != nil {
			return err
		}
		w.Tell.Say("durable %d", w.next)
		return w.s.WaitDurable(context.Background(), stream.Seq(w.next))
	})
}

func (w *Writer) seal() error {
	return w.try("seal", func() error {
		err := w.s.Seal()
		if err == nil && w.Mode != stream.Os {
			w.Tell.Say("durable %d", w.s.Cursors().Durable)
		}
		return err
	})
}

// retain drops all but the newest keep records, as far as segments are whole.
func (w *Writer) retain(keep uint64) func() error {
	return func() error {
		return w.try("retain", func() error {
			below := w.next - min(w.next, keep)
			w.Tell.Say("retain %d", below)
			_, err := w.s.Retain(retention.Policy{BeforeSeq: below}, false)
			return err
		})
	}
}

// close closes the stream. One that was poisoned is opened and closed again: its
// records are all in the journal.
func (w *Writer) close() error {
	err := w.s.Close()
	if err != nil {
		w.Tell.Say("fail close: %v", err)
		if !errors.Is(err, stream.ErrPoisoned) {
			return errGivenUp
		}
		if err := w.open(); err != nil {
			return err
		}
		err = w.s.Close()
	}
	if err != nil {
		w.Tell.Say("fail close: %v", err)
		return errGivenUp
	}
	w.s = nil
	w.Tell.Say("durable %d", w.next)
	return nil
}

func (w *Writer) alter(capacity int) func() error {
	return func() error {
		return w.try("alter", func() error {
			_, err := stream.AlterOn(w.FS, w.Dir, stream.Change{Capacity: &capacity}, stream.OpenOptions{})
			return err
		})
	}
}

// Loop appends at random from several goroutines until it is killed or a step
// fails, with rolls, seals, syncs, retention and reopening.
func (w *Writer) Loop(seed uint64, appenders int) error {
	rng := rand.New(rand.NewPCG(seed, 23))
	for {
		if err := w.open(); err != nil {
			return err
		}
		var wg sync.WaitGroup
		errs := make([]error, appenders)
		for i := range appenders {
			r := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
			wg.Go(func() { errs[i] = w.life(r, appenders == 1) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			w.Tell.Say("fail %v", err)
			_ = w.s.Close()
			return errGivenUp
		}
		w.next = uint64(w.s.Cursors().Appended)
		if err := w.close(); err != nil {
			return err
		}
	}
}

// life is what one goroutine does between an open and a close.
func (w *Writer) life(r *rand.Rand, alone bool) error {
	for range 50 + r.IntN(500) {
		switch r.IntN(50) {
		case 0:
			if err := w.s.Seal(); err != nil {
				return err
			}
		case 1:
			end := w.s.Cursors().Appended
			if err := w.s.Sync(); err != nil {
				return err
			}
			w.Tell.Say("durable %d", end)
		case 2:
			end := uint64(w.s.Cursors().Appended)
			if end < 200 {
				continue
			}
			w.Tell.Say("retain %d", end-200)
			if _, err := w.s.Retain(retention.Policy{BeforeSeq: end - 200}, false); err != nil {
				return err
			}
		default:
			if err := w.one(1+r.IntN(2*Capacity), alone); err != nil {
				return err
			}
		}
	}
	return nil
}

// one appends a batch, which stamps itself with its place: where several
// goroutines append, that is tried until the place was right.
func (w *Writer) one(n int, alone bool) error {
	for {
		from := w.s.Cursors().Appended
		w.Tell.Say("try %d %d", from, n)
		_, _, err := w.s.AppendAt(from, Batch(uint64(from), n))
		if !alone && errors.Is(err, stream.ErrSeqMismatch) {
			continue
		}
		if err != nil {
			return err
		}
		w.Tell.Say("ack %d %d %d", from, n, w.s.Cursors().Durable)
		return nil
	}
}

// Plain makes a stream, appends over many rolls, seals, and closes: what an Os
// stream does without a sync lies between the lines "begin" and "over".
func (w *Writer) Plain() error {
	if err := w.open(); err != nil {
		return err
	}
	w.Tell.Say("begin")
	for n := range 30 {
		if err := w.append(1 + n%5)(); err != nil {
			return err
		}
	}
	if err := w.seal(); err != nil {
		return err
	}
	if err := w.append(3)(); err != nil {
		return err
	}
	w.Tell.Say("over")
	return w.close()
}

// Follow reads a stream beside its writer and checks all that it sees: what was
// seen stays, and all is whole and right. It ends with stop.
func Follow(dir string, tell *Teller, stop <-chan struct{}) error {
	var r *stream.Reader
	var end stream.Seq
	for looks := 0; ; looks++ {
		select {
		case <-stop:
			tell.Say("end %d %d", end, looks)
			if r != nil {
				return r.Close()
			}
			return nil
		default:
		}
		var err error
		if r == nil {
			if r, err = stream.OpenReader(dir); errors.Is(err, stream.ErrNotFound) {
				r = nil
				continue
			}
			if err != nil {
				return err
			}
		}
		n, err := r.Snapshot()
		if err != nil {
			return err
		}
		if n.End() < end {
			return fmt.Errorf("a snapshot ends at %d, an earlier one at %d", n.End(), end)
		}
		end = n.End()
		err = Read(n, false, nil)
		if cerr := n.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
		if looks%16 == 15 { // another reader sees the same
			err = r.Close()
			r = nil
			if err != nil {
				return err
			}
		}
		tell.Say("seen %d", end)
	}
}
