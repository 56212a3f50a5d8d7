package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

func newGet(a *app) *cobra.Command {
	f := &recordFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "get DIR SEQ [flags]",
		Short: "Print one record",
		Long:  `Print the record with the sequence number SEQ.`,
		Example: `  ledgerctl get data/fills 4096
  ledgerctl get data/fills 4096 --format json --columns px,qty`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] == "" {
				return usagef("which record? name a stream's directory and a sequence number")
			}
			a.stream = args[0]
			return nil
		},
		ValidArgsFunction: directories(true),
	}, func(_ context.Context, args []string) error {
		seq, err := parseSeq(args[1])
		if err != nil {
			return &usageError{err}
		}
		return a.withSnapshot(args[0], func(snap *stream.Snapshot) error { return a.get(snap, seq, f) })
	})
	f.add(cmd)
	return cmd
}

func (a *app) get(snap *stream.Snapshot, seq uint64, f *recordFlags) error {
	p, err := a.newPrinter(f, snap.Schema())
	if err != nil {
		return err
	}
	rec, err := snap.Get(nil, stream.Seq(seq))
	if errors.Is(err, stream.ErrNotFound) {
		return &hintedError{err, "ledgerctl tail " + a.stream + " prints the last ones"}
	}
	if err != nil {
		return err
	}
	if err := p.print(segment.FromRows(snap.Schema(), seq, rec), []uint32{0}); err != nil {
		return err
	}
	return p.w.Close()
}
