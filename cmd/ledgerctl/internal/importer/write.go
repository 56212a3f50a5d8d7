package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/stream"
)

const (
	batchRecords  = 1024 // records an append, unless the stream's capacity is smaller than half of it
	batchesToNote = 64   // batches between two positions on disk
)

// write appends the inputs, which have been checked, to the stream.
func (im *importer) write(ctx context.Context, inputs []input) (err error) {
	s, err := stream.Open(im.o.Dir, stream.OpenOptions{Schema: im.schema})
	if errors.Is(err, stream.ErrNotFound) {
		o := im.o.Stream
		o.Schema = im.schema
		if s, err = stream.Create(im.o.Dir, o); err == nil {
			im.o.Note("created %s: %s", im.o.Dir, im.schema)
		}
	}
	if err != nil {
		return err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	// From here on the stream is ours alone: what was read of it before the lock
	// is read again.
	if im.dict, err = dictionary.Load(im.o.Dir, s.Info().ID); err != nil {
		return err
	}
	if err := im.ticks(im.dict); err != nil {
		return err
	}
	p, err := loadPositions(im.o.Dir, s.Info().ID)
	if err != nil {
		return err
	}
	for i := range inputs {
		w := &writer{im: im, s: s, in: &inputs[i], positions: p, batch: min(batchRecords, 2*s.Info().Capacity)}
		if err := w.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A writer appends one input.
type writer struct {
	im        *importer
	s         *stream.Stream
	in        *input
	positions *positions
	batch     int // records
	r         *rowReader

	at      position // what is on disk, or will be
	keep    bool     // there is a position: the input can be read again
	resumed *stream.Snapshot
	noted   int    // batches since the position was written
	have    []byte // scratch
}

func (w *writer) run(ctx context.Context) (err error) {
	im := w.im
	if w.r, err = im.open(w.in, im.dict); err != nil {
		return err
	}
	defer w.r.src.Close()
	if !w.in.once {
		w.r.rejects = discard(im.o.Rejects) // they were written by the check
		if done, err := w.resume(); done || err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.compared()) }()
	}
	var n uint64
	for last := false; !last; {
		if err := ctx.Err(); err != nil {
			return errors.Join(w.note(n), err)
		}
		rows, err := w.read(n)
		if err != nil && err != io.EOF {
			return errors.Join(err, w.note(n))
		}
		last = err == io.EOF
		if n, err = w.put(rows, n); err != nil {
			return fmt.Errorf("%s: %w", w.in.name, err)
		}
	}
	if w.in.once {
		im.finish(w.r)
		return nil
	}
	if w.r.sum() != w.in.sum || n != w.in.records {
		return fmt.Errorf("%s: %w", w.in.name, errChanged)
	}
	return w.note(n)
}

func discard(w io.Writer) io.Writer {
	if w == nil {
		return nil
	}
	return io.Discard
}

// resume finds the position of the input, or begins one. done says that all of
// it is in the stream.
func (w *writer) resume() (done bool, err error) {
	im, next := w.im, uint64(w.s.Cursors().Appended)
	w.keep = true
	w.at = position{Sum: w.in.sum, Name: w.in.name, Mapping: w.r.mapping, Records: w.in.records, Next: next}
	old := w.positions.find(w.in.sum)
	switch {
	case old == nil || im.o.Again && old.Done == old.Records:
		return false, w.positions.put(w.at)
	case old.Mapping != w.r.mapping || old.Records != w.in.records:
		return false, fmt.Errorf("%s was imported before in another way: %s; with --again, once that import is complete, it is appended once more", w.in.name, old.Mapping)
	case old.Done == old.Records:
		im.report.There += old.Records
		im.o.Note("%s is in the stream already: %d records; --again appends them once more", w.in.name, old.Records)
		return true, nil
	case old.Next > next:
		return false, fmt.Errorf("%s: the stream ends at %d, and an import had come to %d: the stream is an older copy, or has lost records", w.in.name, next, old.Next)
	}
	w.at = *old
	if old.Next < next {
		w.resumed, err = w.s.Snapshot()
	}
	return false, err
}

// read returns the next batch of records; n were read before. It leaves out those
// that the position says are there.
func (w *writer) read(n uint64) ([]byte, error) {
	im := w.im
	im.rows = im.rows[:0]
	batch := w.batch
	if w.keep && n < w.at.Done {
		batch = int(min(uint64(batch), w.at.Done-n))
	}
	for range batch {
		at := len(im.rows)
		im.rows = append(im.rows, make([]byte, im.width)...)
		if err := w.r.next(im.rows[at:]); err != nil {
			return im.rows[:at], err
		}
		if w.in.once {
			im.stats.add(im.rows[at:])
		}
	}
	return im.rows, nil
}

// put appends a batch, unless it is there. It returns how many records have been
// dealt with.
func (w *writer) put(rows []byte, n uint64) (uint64, error) {
	im := w.im
	count := uint64(len(rows) / im.width)
	if count == 0 {
		return n, nil
	}
	if w.keep && n < w.at.Done { // read ended the batch there
		im.report.There += count
		return n + count, nil
	}
	if w.resumed != nil {
		same, err := w.same(rows, stream.Seq(w.at.Next+n-w.at.Done))
		im.report.There += uint64(same)
		n += uint64(same)
		count -= uint64(same)
		if err != nil || count == 0 {
			return n, err
		}
		rows = rows[same*im.width:]
		// This is where the run before ended. Somebody else may have appended since.
		if err := w.compared(); err != nil {
			return n, err
		}
		if err := w.note(n); err != nil {
			return n, err
		}
	}
	if err := im.dict.Save(im.o.Dir); err != nil {
		return n, err
	}
	first, _, err := w.s.Append(rows)
	if err != nil {
		return n, err
	}
	if im.report.Appended == 0 {
		im.report.First = first
	}
	im.report.Appended += count
	n += count
	if w.noted++; w.noted >= batchesToNote {
		return n, w.note(n)
	}
	return n, nil
}

// compared ends the comparison with what the stream has.
func (w *writer) compared() error {
	if w.resumed == nil {
		return nil
	}
	snap := w.resumed
	w.resumed = nil
	return snap.Close()
}

// note writes that n records of the input are in the stream, once they are
// durable there.
func (w *writer) note(n uint64) error {
	if !w.keep || n < w.at.Done || w.resumed != nil && n < w.at.Records {
		return nil // what is on disk says as much
	}
	if err := w.s.Sync(); err != nil {
		return err
	}
	w.noted = 0
	if err := w.im.dict.Save(w.im.o.Dir); err != nil {
		return err
	}
	w.at.Done, w.at.Next = n, uint64(w.s.Cursors().Appended)
	return w.positions.put(w.at)
}

// same counts how many of the records, from the first, the stream has from seq on.
func (w *writer) same(rows []byte, seq stream.Seq) (n int, err error) {
	width := w.im.width
	w.s.Schema().ClearPadding(rows)
	for ; n*width < len(rows) && seq < w.resumed.End(); n, seq = n+1, seq+1 {
		w.have, err = w.resumed.Get(w.have[:0], seq)
		if errors.Is(err, stream.ErrDropped) {
			return n, fmt.Errorf("how far an import had come can't be told any more (without "+PositionFile+" it begins anew): %w", err)
		}
		if err != nil {
			return n, err
		}
		if !bytes.Equal(w.have[8:], rows[n*width+8:(n+1)*width]) {
			break
		}
	}
	return n, nil
}
