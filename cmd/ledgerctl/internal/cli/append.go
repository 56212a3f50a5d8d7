package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/feed"
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/stream"
)

// batchDefault is how many records go in one append.
const batchDefault = 1024

type appendFlags struct {
	listFlags
	feed   feed.Options
	batch  int
	given  bool // batch is the caller's wish
	linger *flagValue[time.Duration]
	acks   bool
	at     flagValue[uint64]
}

func newAppend(a *app) *cobra.Command {
	f := &appendFlags{}
	cmd := &cobra.Command{
		Use:   "append DIR [flags] < INPUT",
		Short: "Append records from standard input",
		Long: `Append records from standard input, as they come: CSV or JSON lines, told apart
by their first byte, or record bytes with --raw.

CSV begins with a line that names the columns, in any order. ts must be among
them; the stream's other fields too, unless --defaults makes what is missing 0.
JSON lines are objects with the same names: {"ts":"…","px":"64123.50","qty":5}.
A seq column is read over: the stream numbers its records. Times are RFC 3339 or
a number with ns, us, ms or s; a bare number is in the stream's unit. Decimals
are exact: a digit more than the field's scale is refused.

Records go in batches, each all or nothing. A line that can't be read ends the
append with its number; the batches before it are kept, nothing of its own is.
Ctrl-C ends it in the same way. At the end it prints the first sequence number
and the count of what was appended; with --acks also those of each batch as soon
as it is as durable as the stream promises.`,
		Example: `  ledgerctl append data/fills < fills.csv
  ledgerctl dump data/fills --format jsonl | ledgerctl append data/copy
  feed | ledgerctl append data/fills --linger 10ms --acks
  ledgerctl append data/fills --at 131072 < rest.csv`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}
	a.verb(cmd, func(ctx context.Context, args []string) error {
		f.given = cmd.Flags().Changed("batch")
		return a.append(ctx, args[0], f)
	})
	f.at = flagValue[uint64]{name: "seq", parse: parseSeq}
	f.linger = durationFlag()
	flags := cmd.Flags()
	flags.IntVar(&f.batch, "batch", batchDefault, "`records` a batch; at most twice the stream's capacity")
	flags.Var(f.linger, "linger", "append an unfinished batch when it is this old (wait for it to fill)")
	flags.BoolVar(&f.acks, "acks", false, "print each batch when it is acknowledged")
	flags.Var(&f.at, "at", "only if the first record gets this `seq`")
	flags.BoolVar(&f.feed.Defaults, "defaults", false, "fields that are missing are 0")
	flags.BoolVar(&f.feed.Raw, "raw", false, "input is record bytes, as the stream holds them")
	f.addRaw(cmd, "times and scaled fields in the input are integers, as they are stored")
	f.addFormat(cmd)
	cmd.MarkFlagsMutuallyExclusive("raw", "raw-values")
	cmd.MarkFlagsMutuallyExclusive("raw", "defaults")
	return cmd
}

func (a *app) append(ctx context.Context, dir string, f *appendFlags) (err error) {
	f.feed.RawValues = f.rawValues
	if f.batch < 1 {
		return usagef("--batch must be at least 1")
	}
	st, err := a.openWriter(dir)
	if err != nil {
		return err
	}
	defer func() { err = closeWriter(st, err) }()
	if limit := 2 * st.Info().Capacity; f.batch > limit {
		if f.given {
			return usagef("--batch is at most twice the stream's capacity: %d", limit)
		}
		f.batch = limit
	}
	if a.inTerminal {
		a.note("ledgerctl: reading records from the terminal; Ctrl-D ends the input")
	}
	in, bar := a.input()
	p := newAppender(a, st, f)
	p.in = feed.Open(ctx, in, st.Schema(), f.feed, f.batch)
	err = p.run(ctx, f.linger.v)
	bar.end()
	return p.finish(err)
}

// openWriter opens a stream for writing, and tells what its recovery gave up.
func (a *app) openWriter(dir string) (*stream.Stream, error) {
	st, err := stream.Open(dir, stream.OpenOptions{})
	if err != nil {
		return nil, err
	}
	r := st.Report()
	if r.Cut > 0 {
		a.note("ledgerctl: recovery cut %s of an unfinished batch that was never acknowledged", plural(r.Cut, "record"))
	}
	for _, lost := range r.Lost {
		a.note("ledgerctl: records %s were never on disk and are lost: see drops.json", seqRange(uint64(lost.From), uint64(lost.To)))
	}
	for _, name := range r.SetAside {
		a.note("ledgerctl: recovery moved %s to quarantine", name)
	}
	return st, nil
}

// closeWriter closes a stream; err, what went wrong before, comes first.
func closeWriter(st *stream.Stream, err error) error {
	if cerr := st.Close(); err == nil && cerr != nil {
		return cerr
	}
	return err
}

// input is standard input, with a bar where it is a file.
func (a *app) input() (io.Reader, *progress) {
	info, err := a.in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return a.in, nil
	}
	bar := a.progress("bytes", info.Size(), true)
	return &countingReader{a.in, bar}, bar
}

type countingReader struct {
	f   *os.File
	bar *progress
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.f.Read(p)
	c.bar.add(int64(n))
	return n, err
}

// An appender cuts what it is fed into batches and appends them.
type appender struct {
	a  *app
	st *stream.Stream
	in *feed.Feed
	f  *appendFlags

	w     listing.Writer // of acknowledgements
	row   listing.Row
	rows  []byte // records of the unfinished batch
	lines []int  // the line of each

	first    stream.Seq // the number of the first record; where none came, of the next one
	next     stream.Seq
	lastLine int // of the last record appended
}

func newAppender(a *app, st *stream.Stream, f *appendFlags) *appender {
	next := st.Cursors().Appended
	return &appender{
		a: a, st: st, f: f, first: next, next: next,
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
	var first stream.Seq
	var err error
	if p.f.at.set() {
		want := stream.Seq(p.f.at.v)
		if p.next > p.first {
			want = p.next
		}
		first, _, err = p.st.AppendAt(want, batch)
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
