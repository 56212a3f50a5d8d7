package cli

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/verify"
)

type repairFlags struct {
	listFlags
	apply bool
}

func newRepair(a *app) *cobra.Command {
	f := &repairFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "repair DIR [flags]",
		Short: "Say what would make a damaged stream whole; with --apply do it",
		Long: `Say what would make a damaged stream whole, an action a row, and change nothing.

With --apply it is done: what can be rebuilt is rebuilt from the good parts of
the files, the rest is moved to the stream's folder quarantine, and the records
that are lost with it are named in drops.json. Nothing is deleted, and verify
finds nothing wrong afterwards. It takes the writer's lock. When it was
interrupted, run it again.

  op  rebuild (write a file anew), quarantine (set it aside), drop (name the
      records as lost), leave (nothing can be done)

The exit code is 3 as long as the stream is damaged.`,
		Example: `  ledgerctl repair data/fills
  ledgerctl repair data/fills --apply && ledgerctl verify data/fills`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error { return a.repair(ctx, args[0], f) })
	cmd.Flags().BoolVar(&f.apply, "apply", false, "do it")
	f.addFormat(cmd)
	return cmd
}

func (a *app) repair(ctx context.Context, dir string, f *repairFlags) error {
	r, err := verify.Repair(ctx, dir, f.apply)
	if err != nil {
		return err
	}
	if err := a.listActions(r.Actions, f); err != nil {
		return err
	}
	switch {
	case r.Before.OK:
		a.note("nothing to repair: %s is whole", dir)
		return nil
	case !f.apply:
		a.note("ledgerctl: %s is damaged: %s found; with --apply the above is done", dir, plural(uint64(len(r.Before.Problems)), "problem"))
		return errDamage
	case r.After == nil || !r.After.OK:
		a.note("ledgerctl: %s is still damaged: ledgerctl verify %s tells how", dir, dir)
		return errDamage
	}
	a.note("repaired %s", dir)
	return nil
}

func (a *app) listActions(list []verify.Action, f *repairFlags) error {
	w := a.listing(&f.listFlags, []listing.Column{
		{Name: "op"},
		{Name: "file"},
		{Name: "from_seq", Kind: listing.Exact},
		{Name: "to_seq", Kind: listing.Exact},
		{Name: "detail"},
	})
	var row listing.Row
	for _, x := range list {
		row.Reset()
		row.Text(x.Op)
		row.Text(x.File)
		row.Uint(x.FromSeq)
		row.Uint(x.ToSeq)
		row.Text(x.Detail)
		if err := w.Write(&row); err != nil {
			return err
		}
	}
	return w.Close()
}
