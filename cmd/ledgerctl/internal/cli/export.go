package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/arrow"
	"example.com/ledger/cmd/ledgerctl/internal/exporter"
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

type exportFlags struct {
	rangeFlags
	out       string
	columns   []string
	rawValues bool
}

func newExport(a *app) *cobra.Command {
	f := &exportFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "export DIR -o FILE.{csv,jsonl,arrow,parquet,seg} [flags]",
		Short: "Write records to a file of another format",
		Long: `Write a stream's records to a file. What its name ends with is its format:

  .csv .jsonl  as dump prints them
  .arrow       Arrow IPC, uncompressed: it can be mapped
  .parquet     Parquet, compressed
  .seg         one sealed segment that says itself what it holds: all columns of
               records whose numbers have no gaps

In Arrow and Parquet ts is a timestamp in UTC, a field with a scale a decimal,
and a field whose numbers stand for texts a string, unless --raw-values asks for
integers. A .seg file has numbers only; dictionary.json has their texts.

The file is there whole or not at all: it is written beside its name, synced and
renamed, and only then replaces what was there. Exporting takes no lock and
doesn't hold up the writer; what is appended meanwhile is not in the file. Where
records are gone, by retention or as a known loss, it says so and goes on
behind. The help of dump tells what a condition for --where is.`,
		Example: `  ledgerctl export data/fills -o fills.parquet
  ledgerctl export data/fills -o day.arrow --since 2026-10-12 --until 2026-10-13
  ledgerctl export data/fills -o px.csv --columns ts,px --where 'px>=64000.00'
  ledgerctl export data/fills -o part.seg --from 1000 --to 2000`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error { return a.export(ctx, args[0], f) })
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "the `file` to write; its name says the format")
	f.rangeFlags.add(cmd)
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "write this `list` of columns, in this order, as in ts,px,qty (all)")
	cmd.Flags().BoolVar(&f.rawValues, "raw-values", false, rawRecords)
	completeWith(cmd, "columns", completeColumns)
	return cmd
}

func (a *app) export(ctx context.Context, dir string, f *exportFlags) error {
	if f.out == "" {
		return usagef("where to? -o FILE is missing")
	}
	format, err := exporter.FormatOf(f.out)
	if err != nil {
		return usagef("%w", err)
	}
	if format == exporter.Segment && len(f.columns) > 0 {
		return usagef("a .seg file has all columns: leave out --columns")
	}
	return a.withReader(dir, func(r *stream.Reader) error {
		snap, err := r.Snapshot()
		if err != nil {
			return err
		}
		defer snap.Close()
		s, err := f.rangeFlags.scan(snap, dir)
		if err != nil {
			return err
		}
		s.gone = a.noteGone
		e := &exportRun{app: a, flags: f, info: r.Info(), scan: s, format: format}
		if err := exporter.File(f.out, func(w io.Writer) error { return e.write(ctx, w) }); err != nil {
			return err
		}
		a.note("%s: %s", f.out, plural(e.records, "record"))
		return nil
	})
}

// An exportRun is one run of export.
type exportRun struct {
	*app
	flags   *exportFlags
	info    stream.Info
	scan    *scan
	format  exporter.Format
	records uint64 // that were written
}

func (e *exportRun) write(ctx context.Context, w io.Writer) error {
	sink, err := e.sink(w)
	if err != nil {
		return err
	}
	bar := e.progress("records", int64(e.scan.records()), true)
	defer bar.end()
	e.scan.done = func(n uint64) { bar.add(int64(n)) }
	if err := e.run(ctx, sink); err != nil {
		_ = sink.Close()
		return err
	}
	return sink.Close()
}

func (e *exportRun) sink(w io.Writer) (exporter.Sink, error) {
	s := e.scan.snap.Schema()
	o := arrow.Options{Columns: e.flags.columns, Raw: e.flags.rawValues}
	if !o.Raw && (e.format == exporter.Arrow || e.format == exporter.Parquet) {
		// Behind the snapshot: what its records hold has a text on disk by now.
		names, err := openNames(e.stream)
		if err != nil {
			return nil, &hintedError{err, "with --raw-values numbers are written as they are stored"}
		}
		o.Texts = names.d.Texts()
	}
	var sink exporter.Sink
	var err error
	switch e.format {
	case exporter.Arrow:
		sink, err = exporter.NewArrow(w, s, o)
	case exporter.Parquet:
		sink, err = exporter.NewParquet(w, s, o)
	case exporter.Segment:
		return exporter.NewSegment(w, segment.Meta{ID: e.info.ID, Capacity: uint32(e.info.Capacity), Schema: s}, time.Now().UnixMilli()), nil
	default:
		return e.textSink(w, s)
	}
	if errors.Is(err, segment.ErrField) {
		return nil, usagef("%w", err)
	}
	return sink, err
}

// exportRecords is how many records are handed on at a time: a batch of Arrow.
const exportRecords = 1 << 16

// run hands all records on that are asked for.
func (e *exportRun) run(ctx context.Context, sink exporter.Sink) error {
	var at []uint32
	return e.scan.parts(func(p stream.Part) error {
		if e.scan.rulesOut(p) {
			p.Skip()
			e.scan.pass(p.Len())
			return ctx.Err()
		}
		g, err := p.Acquire()
		if err != nil {
			return err
		}
		defer p.Release()
		p.Count()
		for lo := 0; lo < g.Len(); lo += exportRecords {
			if err := ctx.Err(); err != nil {
				return err
			}
			block := g.Slice(lo, min(lo+exportRecords, g.Len()))
			if at, err = e.hand(sink, block, at[:0]); err != nil {
				return err
			}
			e.scan.pass(block.Len())
		}
		return nil
	})
}

// hand hands on what is asked for of a block. at is for its positions.
func (e *exportRun) hand(sink exporter.Sink, block segment.Segment, at []uint32) ([]uint32, error) {
	if e.scan.filter == nil {
		e.records += uint64(block.Len())
		return at, sink.Write(block, nil)
	}
	at, err := e.scan.filter.Select(at, block)
	if err != nil || len(at) == 0 {
		return at, err
	}
	e.records += uint64(len(at))
	return at, sink.Write(block, at)
}

// A textSink writes CSV or JSON lines with dump's own printer.
type textSink struct {
	p   *recordPrinter
	out *output
	all []uint32
}

func (e *exportRun) textSink(w io.Writer, s *schema.Schema) (exporter.Sink, error) {
	b := *e.app
	b.out, b.outTerminal = newOutput(w), false
	f := &recordFlags{columns: e.flags.columns}
	f.rawValues = e.flags.rawValues
	f.format.v = listing.CSV
	if e.format == exporter.JSONL {
		f.format.v = listing.JSONL
	}
	p, err := b.newPrinter(f, s)
	return &textSink{p: p, out: b.out}, err
}

func (t *textSink) Write(g segment.Segment, at []uint32) error {
	if at == nil {
		for i := len(t.all); i < g.Len(); i++ {
			t.all = append(t.all, uint32(i))
		}
		at = t.all[:g.Len()]
	}
	return notOutput(disk.Guard(func() error { return t.p.print(g, at) }))
}

func (t *textSink) Close() error {
	return notOutput(errors.Join(t.p.w.Close(), t.out.Flush()))
}

// notOutput undoes what an output makes of errors: a file isn't standard output.
func notOutput(err error) error {
	var output *writeError
	if errors.As(err, &output) {
		return output.err
	}
	return err
}
