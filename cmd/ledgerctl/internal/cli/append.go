package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/feed"
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
	learn  []string
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
are exact: a digit more than the field's scale is refused. Where a field's
numbers stand for texts, such as symbols, the input has the texts, as dump
prints them; a text that has no number is refused, or gets one with --learn
FIELD.

Records go in batches, each all or nothing. A line that can't be read ends the
append with its number; the batches before it are kept, nothing of its own is.
Ctrl-C ends it in the same way. At the end it prints the first sequence number
and the count of what was appended; with --acks also those of each batch as soon
as it is as durable as the stream promises.`,
		Example: `  ledgerctl append data/fills < fills.csv
  ledgerctl dump data/fills --format jsonl | ledgerctl append data/copy
  ledgerctl dump data/trades | ledgerctl append data/more --learn sym
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
	flags.StringSliceVar(&f.learn, "learn", nil, "give new texts in these `fields` numbers of their own")
	flags.BoolVar(&f.feed.Raw, "raw", false, "input is record bytes, as the stream holds them")
	f.addRaw(cmd, "times and scaled fields in the input are integers, as they are stored")
	f.addFormat(cmd)
	cmd.MarkFlagsMutuallyExclusive("raw", "raw-values")
	cmd.MarkFlagsMutuallyExclusive("raw", "defaults")
	cmd.MarkFlagsMutuallyExclusive("raw", "learn")
	cmd.MarkFlagsMutuallyExclusive("raw-values", "learn")
	completeWith(cmd, "learn", completeColumns)
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
	var texts *learner
	if !f.feed.Raw && !f.rawValues {
		if texts, err = newLearner(st, f.learn); err != nil {
			return err
		}
		f.feed.Texts = texts
	}
	if a.inTerminal {
		a.note("ledgerctl: reading records from the terminal; Ctrl-D ends the input")
	}
	in, bar := a.input()
	p := newAppender(a, st, f, texts)
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
