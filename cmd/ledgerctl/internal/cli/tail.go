package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/ledger/internal/disk"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

type tailFlags struct {
	recordFlags
	where  string
	lines  uint64
	follow bool
}

func newTail(a *app) *cobra.Command {
	f := &tailFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "tail DIR [flags]",
		Short: "Print the last records, then new ones as they arrive",
		Long: `Print the last records of a stream and, with --follow, new ones as they arrive,
from a writer in another process too. Ctrl-C ends it, and the exit code is 0.

With --where they are the last ones for which the condition holds, and those of
the new ones. The help of dump tells what a condition is.`,
		Example: `  ledgerctl tail data/fills
  ledgerctl tail data/fills -n 100 --columns ts,px,qty
  ledgerctl tail data/fills --follow --where 'sym==3&&qty>=1000'
  ledgerctl tail data/fills -f --format jsonl | while read -r x; do …; done`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error {
		return a.withReader(args[0], func(r *stream.Reader) error { return a.tail(ctx, r, f) })
	})
	cmd.Flags().Uint64VarP(&f.lines, "lines", "n", 10, "begin with the last `n` records")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with new records as they arrive")
	addWhere(cmd, &f.where)
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
	s := &scan{snap: snap, from: begin(snap), to: snap.End(), gone: a.noteGone}
	if err = s.where(f.where, a.stream); err == nil {
		if err = a.last(ctx, s, f.lines); err == nil {
			err = s.run(ctx, p.print)
		}
	}
	_ = snap.Close()
	if err == nil && f.follow {
		err = a.follow(ctx, r, p, s)
	}
	if err != nil {
		return err
	}
	return p.w.Close()
}

// last moves the scan's begin so that it has its last n records.
func (a *app) last(ctx context.Context, s *scan, n uint64) error {
	if s.filter == nil || n == 0 {
		s.from = s.to - min(s.to-s.from, stream.Seq(n))
		return nil
	}
	bar := a.progress("records", int64(s.records()), true)
	defer bar.end()
	back := *s
	back.reverse, back.gone = true, nil
	back.done = func(n uint64) { bar.add(int64(n)) }
	return back.run(ctx, func(g segment.Segment, at []uint32) error {
		if uint64(len(at)) < n {
			n -= uint64(len(at))
			return nil
		}
		s.from = stream.Seq(g.First() + uint64(at[n-1]))
		return errStop
	})
}

// follow prints the records behind those of a scan for which its condition holds,
// as they come, until ctx ends.
func (a *app) follow(ctx context.Context, r *stream.Reader, p *recordPrinter, s *scan) error {
	show := func() error { return errors.Join(p.w.Flush(), a.out.Flush()) }
	if err := show(); err != nil {
		return err
	}
	for b, err := range r.Tail(ctx, s.to) {
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
		g := b.Segment()
		err := disk.Guard(func() error {
			at, err := s.matches(nil, g, 0, g.Len())
			if err != nil || len(at) == 0 {
				return err
			}
			return p.print(g, at)
		})
		if err == nil {
			err = show()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
