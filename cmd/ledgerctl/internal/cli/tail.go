package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/ledger/internal/disk"
	"example.com/ledger/stream"
)

type tailFlags struct {
	recordFlags
	lines  uint64
	follow bool
}

func newTail(a *app) *cobra.Command {
	f := &tailFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "tail DIR [flags]",
		Short: "Print the last records, then new ones as they arrive",
		Long: `Print the last records of a stream and, with --follow, new ones as they arrive,
from a writer in another process too. Ctrl-C ends it, and the exit code is 0.`,
		Example: `  ledgerctl tail data/fills
  ledgerctl tail data/fills -n 100 --columns ts,px,qty
  ledgerctl tail data/fills --follow --format jsonl | while read -r fill; do …; done`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error {
		return a.withReader(args[0], func(r *stream.Reader) error { return a.tail(ctx, r, f) })
	})
	cmd.Flags().Uint64VarP(&f.lines, "lines", "n", 10, "begin with the last `n` records")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with new records as they arrive")
	f.recordFlags.add(cmd)
	return cmd
}

func (a *app) tail(ctx context.Context, r *stream.Reader, f *tailFlags) error {
	p, err := a.newPrinter(&f.recordFlags, r.Schema())
	if err != nil {
		return err
	}
	snap, err := r.Snapshot()
	if err != nil {
		return err
	}
	first, end := begin(snap), snap.End()
	s := &scan{snap: snap, from: end - min(end-first, stream.Seq(f.lines)), to: end, gone: a.noteGone}
	err = s.run(ctx, p.print)
	_ = snap.Close()
	if err == nil && f.follow {
		err = a.follow(ctx, r, p, end)
	}
	if err != nil {
		return err
	}
	return p.w.Close()
}

// follow prints records from number from on as they come, until ctx ends.
func (a *app) follow(ctx context.Context, r *stream.Reader, p *recordPrinter, from stream.Seq) error {
	show := func() error { return errors.Join(p.w.Flush(), a.out.Flush()) }
	if err := show(); err != nil {
		return err
	}
	for b, err := range r.Tail(ctx, from) {
		var dropped *stream.DroppedError
		switch {
		case errors.As(err, &dropped):
			a.noteGone(dropped)
			continue
		case err != nil && ctx.Err() != nil:
			return nil // Ctrl-C is how it ends
		case err != nil:
			return err
		}
		if err := disk.Guard(func() error { return p.print(b.Segment(), all(b.Len())) }); err != nil {
			return err
		}
		if err := show(); err != nil {
			return err
		}
	}
	return nil
}

// all returns the positions of n records.
func all(n int) []uint32 {
	at := make([]uint32, n)
	for i := range at {
		at[i] = uint32(i)
	}
	return at
}
