package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

type dumpFlags struct {
	rangeFlags
	recordFlags
	limit   uint64
	reverse bool
}

func newDump(a *app) *cobra.Command {
	f := &dumpFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "dump DIR [flags]",
		Short: "Print records",
		Long: `Print a stream's records: seq, ts, then the fields.

Ranges are half-open, [from, to) and [since, until), and all that are given hold
together, --where too. Segments that they rule out are not read. Times print as
RFC 3339 in UTC, fields with a scale as decimals; append reads the output back.

` + whereHelp + `

It works beside a live writer and on read-only media, and writes nothing. Where
records are gone, by retention or as a known loss, it says so and goes on
behind.`,
		Example: `  ledgerctl dump data/fills --limit 10
  ledgerctl dump data/fills --since 2026-10-12T09:30:00Z \
    --until 2026-10-12T09:31:00Z
  ledgerctl dump data/fills --from 1000 --to 2000 --columns px --format jsonl
  ledgerctl dump data/fills --where 'sym==3&&px>=64000.00' --limit 10
  ledgerctl dump data/fills --reverse --limit 1`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error { return a.dump(ctx, args[0], f) })
	f.rangeFlags.add(cmd)
	f.recordFlags.add(cmd)
	cmd.Flags().Uint64VarP(&f.limit, "limit", "n", 0, "print at most `n` records (0: all)")
	cmd.Flags().BoolVarP(&f.reverse, "reverse", "r", false, "the last record first")
	return cmd
}

func (a *app) dump(ctx context.Context, dir string, f *dumpFlags) error {
	return a.withSnapshot(dir, func(snap *stream.Snapshot) error {
		s, err := f.rangeFlags.scan(snap, dir)
		if err != nil {
			return err
		}
		p, err := a.newPrinter(&f.recordFlags, snap.Schema())
		if err != nil {
			return err
		}
		s.reverse = f.reverse
		s.gone = a.noteGone
		bar := a.progress("records", int64(s.records()), !a.outTerminal)
		defer bar.end()
		s.done = func(n uint64) { bar.add(int64(n)) }
		left := f.limit
		err = s.run(ctx, func(g segment.Segment, at []uint32) error {
			if f.limit > 0 {
				at = at[:min(uint64(len(at)), left)]
				left -= uint64(len(at))
			}
			if err := p.print(g, at); err != nil {
				return err
			}
			if f.limit > 0 && left == 0 {
				return errStop
			}
			return nil
		})
		if err != nil {
			return err
		}
		return p.w.Close()
	})
}

// withSnapshot calls f with what a stream holds now. It takes no lock.
func (a *app) withSnapshot(dir string, f func(*stream.Snapshot) error) error {
	return a.withReader(dir, func(r *stream.Reader) error {
		snap, err := r.Snapshot()
		if err != nil {
			return err
		}
		defer snap.Close()
		return f(snap)
	})
}

func (a *app) withReader(dir string, f func(*stream.Reader) error) error {
	r, err := stream.OpenReader(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	return f(r)
}

// noteGone tells of records that are not there any more.
func (a *app) noteGone(d *stream.DroppedError) {
	a.note("ledgerctl: records %s are gone: %s", seqRange(uint64(d.From), uint64(d.To)), d.Reason)
}

// seqRange writes a half-open range of sequence numbers.
func seqRange(from, to uint64) string { return fmt.Sprintf("[%d, %d)", from, to) }
