package cli

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/ledger/stream"
)

func newSeal(a *app) *cobra.Command {
	return a.verb(&cobra.Command{
		Use:   "seal DIR",
		Short: "End the active segment, as at the end of a day",
		Long: `End the active segment before it is full: what the journals hold is written to a
sealed file. With nothing to seal it does nothing.`,
		Example:           `  ledgerctl seal data/fills`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(_ context.Context, args []string) (err error) {
		st, err := a.openWriter(args[0])
		if err != nil {
			return err
		}
		defer func() { err = closeWriter(st, err) }()
		from, err := firstUnsealed(st)
		if err != nil {
			return err
		}
		if err := st.Seal(); err != nil {
			return err
		}
		if end := st.Cursors().Appended; from < end {
			a.note("sealed records %s of %s", seqRange(uint64(from), uint64(end)), args[0])
		} else {
			a.note("nothing to seal in %s", args[0])
		}
		return nil
	})
}

// firstUnsealed returns the first number that no sealed file holds.
func firstUnsealed(st *stream.Stream) (stream.Seq, error) {
	snap, err := st.Snapshot()
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	list, err := snap.Segments()
	if err != nil {
		return 0, err
	}
	for _, s := range list {
		if s.State != "sealed" {
			return s.First, nil
		}
	}
	return snap.End(), nil
}
