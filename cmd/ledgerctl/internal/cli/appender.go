package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/ledger/cmd/ledgerctl/internal/feed"
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/stream"
)

// An appender cuts what it is fed into batches and appends them.
type appender struct {
	a  *app
	st *stream.Stream
	in *feed.Feed
	f  *appendFlags

	texts *learner // nil where input is numbers only

	w     listing.Writer // of acknowledgements
	row   listing.Row
	rows  []byte // records of the unfinished batch
	lines []int  // the line of each

	first    stream.Seq // the number of the first record; where none came, of the next one
	next     stream.Seq
	lastLine int // of the last record appended
}

func newAppender(a *app, st *stream.Stream, f *appendFlags, texts *learner) *appender {
	next := st.Cursors().Appended
	return &appender{
		a: a, st: st, f: f, texts: texts, first: next, next: next,
		w: a.listing(&f.listFlags, []listing.Column{{Name: "first_seq", Kind: listing.Exact}, {Name: "count", Kind: listing.Number}}),
	}
}

// run appends until the input ends, ctx does, or something is wrong.
func (p *appender) run(ctx context.Context, linger time.Duration) error {
	var old <-chan time.Time // fires when the unfinished batch has waited long enough
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-old:
			old = nil
			if err := p.flush(len(p.lines)); err != nil {
				return err
			}
		case c := <-p.in.C:
			p.rows, p.lines = append(p.rows, c.Rows...), append(p.lines, c.Lines...)
			p.in.Free(c)
			for len(p.lines) >= p.f.batch || c.Err == io.EOF && len(p.lines) > 0 {
				old = nil
				if err := p.flush(min(len(p.lines), p.f.batch)); err != nil {
					return err
				}
			}
			if c.Err == io.EOF {
				return nil
			}
			if c.Err != nil {
				return c.Err
			}
			if linger > 0 && old == nil && len(p.lines) > 0 {
				old = time.After(linger)
			}
		}
	}
}

// flush appends the first n records of the unfinished batch.
func (p *appender) flush(n int) error {
	width := p.st.Schema().Width()
	batch := p.rows[:n*width]
	if err := p.texts.save(batch); err != nil {
		return err
	}
	var first stream.Seq
	var err error
	if p.f.at.set() {
		first, _, err = p.st.AppendAt(stream.Seq(p.f.at.v)+p.next-p.first, batch)
		if errors.Is(err, stream.ErrSeqMismatch) {
			next := p.st.Cursors().Appended
			err = &hintedError{err, fmt.Sprintf("the stream goes on at %d: give the records from there on, with --at %d", next, next)}
		}
	} else {
		first, _, err = p.st.Append(batch)
	}
	if err != nil {
		return err
	}
	p.next, p.lastLine = first+stream.Seq(n), p.lines[n-1]
	p.rows = append(p.rows[:0], p.rows[n*width:]...)
	p.lines = append(p.lines[:0], p.lines[n:]...)
	if !p.f.acks {
		return nil
	}
	if err := p.ack(first, n); err != nil {
		return err
	}
	return errors.Join(p.w.Flush(), p.a.out.Flush())
}

func (p *appender) ack(first stream.Seq, n int) error {
	p.row.Reset()
	p.row.Uint(uint64(first))
	p.row.Int(int64(n))
	return p.w.Write(&p.row)
}

// finish prints what was appended in all. To an error it adds how far it came.
func (p *appender) finish(err error) error {
	count := int(p.next - p.first)
	perr := p.ack(p.first, count)
	if perr == nil {
		perr = errors.Join(p.w.Close(), p.a.out.Flush())
	}
	if err == nil {
		return perr
	}
	text := "nothing was appended"
	if count > 0 {
		text = fmt.Sprintf("appended before it: %s, the last from %s %d", plural(uint64(count), "record"), p.place(), p.lastLine)
	}
	if errors.As(err, new(*feed.LineError)) {
		text += ": mend the input and append the rest"
	}
	switch {
	case errors.Is(err, context.Canceled):
		err = errInterrupted
	case errors.Is(err, errPipe):
		err = errors.New("whoever read the acknowledgements has gone")
	}
	if hint := p.a.hint(err); hint != "" && !errors.Is(err, errInterrupted) {
		if count > 0 { // what is in the stream must not be given again
			hint = strings.Replace(hint, "run it again", "append the rest", 1)
		}
		text += "; " + hint
	}
	return &hintedError{err, text}
}

// place is what input is counted in.
func (p *appender) place() string {
	if p.f.feed.Raw {
		return "record"
	}
	return "line"
}
