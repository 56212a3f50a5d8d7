// Package feed turns input into records in row form: CSV, JSON lines or record
// bytes, from a reader that may be slow, endless or wrong.
//
// A Source belongs to one goroutine. Open starts one that reads ahead and hands
// on chunks, so that its receiver can stop waiting for input when it likes.
package feed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.com/ledger/schema"
)

// Options say how input is to be read. The zero value reads CSV or JSON lines,
// told apart by their first byte, with every field present.
type Options struct {
	Raw       bool  // record bytes in row form instead of text
	RawValues bool  // times and scaled fields are integers, as stored
	Defaults  bool  // fields that are missing are 0
	Texts     Texts // what stands for numbers in text input; nil: nothing does
}

// Texts are the texts that numbers of a stream's records stand for. The feed's
// goroutine calls it.
type Texts interface {
	// Has tells whether a field's values may be texts.
	Has(field string) bool
	// Number returns the number of a text of such a field, and whether it has one.
	Number(field, text string) (n uint64, ok bool, err error)
	// Check looks at a whole record. Its error is that of the record's line.
	Check(rec []byte) error
}

// A LineError says where input is wrong.
type LineError struct {
	Place string // what Line counts: "line" or "record"
	Line  int    // from 1
	Err   error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s %d: %s", e.Place, e.Line, strings.TrimPrefix(e.Err.Error(), "ledger: "))
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// A Source reads records one by one.
type Source interface {
	// Next fills rec, which has the schema's width, with the next record. Its seq
	// is unspecified. io.EOF says that there is none; a *LineError, or an error of
	// the reader, that there is no use in going on.
	Next(rec []byte) error
	// Line returns the line, or for record bytes the record, that Next read last.
	Line() int
	// Ready tells whether Next is sure not to wait for the reader.
	Ready() bool
}

// New returns the Source for what r has. It reads far enough to tell CSV from
// JSON lines.
func New(r io.Reader, s *schema.Schema, o Options) (Source, error) {
	br := bufio.NewReaderSize(r, 256<<10)
	if o.Raw {
		return &rawSource{r: br, width: s.Width()}, nil
	}
	in := &lines{r: br}
	b := newBinder(s, o)
	first, err := in.firstByte()
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case first == '{':
		return &jsonSource{in: in, b: b}, nil
	case first == '[':
		return nil, &LineError{"line", 1, errors.New("a JSON array can't be read as a stream: write one object a line (dump --format jsonl, or jq -c '.[]')")}
	}
	return &csvSource{in: in, b: b}, nil
}

// A Chunk is a run of records as they came.
type Chunk struct {
	Rows  []byte // whole records
	Lines []int  // the line of each
	Err   error  // not nil in the last Chunk: io.EOF, or what was wrong behind Rows
}

// A Feed reads ahead in a goroutine of its own.
type Feed struct {
	C    <-chan Chunk
	free chan Chunk
}

// Open starts to read. Each Chunk has at most size records, and fewer where the
// next would have to be waited for; so a record is handed on as soon as it is
// there. The goroutine ends with the input or, once the reader returns, with ctx.
func Open(ctx context.Context, r io.Reader, s *schema.Schema, o Options, size int) *Feed {
	c := make(chan Chunk)
	f := &Feed{C: c, free: make(chan Chunk, 3)}
	go func() {
		src, err := New(r, s, o)
		for {
			chunk := f.next()
			if err == nil {
				err = fill(&chunk, src, s.Width(), size)
			}
			chunk.Err = err
			select {
			case c <- chunk:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return f
}

// Free gives a Chunk's memory back. The Chunk is not to be used any more.
func (f *Feed) Free(c Chunk) {
	select {
	case f.free <- c:
	default:
	}
}

func (f *Feed) next() Chunk {
	select {
	case c := <-f.free:
		return Chunk{Rows: c.Rows[:0], Lines: c.Lines[:0]}
	default:
		return Chunk{}
	}
}

func fill(c *Chunk, src Source, width, size int) error {
	for len(c.Lines) < size && (len(c.Lines) == 0 || src.Ready()) {
		at := len(c.Rows)
		c.Rows = append(c.Rows, make([]byte, width)...)
		if err := src.Next(c.Rows[at:]); err != nil {
			c.Rows = c.Rows[:at]
			return err
		}
		c.Lines = append(c.Lines, src.Line())
	}
	return nil
}
