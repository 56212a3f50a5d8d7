package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/trial"
)

func newBench(a *app) *cobra.Command {
	f, d := &listFlags{}, durationFlag()
	d.v = time.Second
	cmd := a.verb(&cobra.Command{
		Use:   "bench [DIR] [flags]",
		Short: "Measure appends and scans on this machine's disk",
		Long: `Measure appends, syncs that callers share, and scans on the disk of DIR, the
working directory if none is given, each beside what the disk or the memory does
with nothing above it. The streams are made in a directory of their own and
removed.

  median_us    of one append, or one scan
  beside       what it is measured against
  times_floor  how many times as fast: 0.9 is nine tenths of that

It is a quick look: other programs disturb it, and so does a disk's own cache.`,
		Example: `  ledgerctl bench /var/lib/ledger
  ledgerctl bench --duration 5s --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("one directory, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error {
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		if d.v <= 0 {
			return usagef("--duration must be more than nothing")
		}
		return a.bench(ctx, dir, d.v, f)
	})
	cmd.Flags().Var(d, "duration", "how long to measure each (1s)")
	f.addFormat(cmd)
	return cmd
}

func (a *app) bench(ctx context.Context, dir string, d time.Duration, f *listFlags) error {
	w := a.listing(f, []listing.Column{{Name: "what"}, {Name: "records_per_s", Kind: listing.Number}, {Name: "mib_per_s", Kind: listing.Number},
		{Name: "median_us", Kind: listing.Number}, {Name: "beside"}, {Name: "times_floor", Kind: listing.Number}})
	var row listing.Row
	number := func(v float64, digits int) {
		row.Buf = strconv.AppendFloat(row.Buf, v, 'f', digits, 64)
		row.End()
	}
	if err := trial.Run(ctx, dir, d, func(r trial.Result) error {
		row.Reset()
		row.Text(r.Name)
		number(r.Records, 0)
		number(r.Bytes/(1<<20), 2)
		number(float64(r.Median.Nanoseconds())/1e3, 1)
		row.Text(r.Floor)
		number(r.Ratio, 2)
		return w.Write(&row)
	}); err != nil {
		return err
	}
	return w.Close()
}
