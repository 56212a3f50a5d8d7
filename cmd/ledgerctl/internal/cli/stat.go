package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/stream"
)

func newStat(a *app) *cobra.Command {
	l := &listFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "stat DIR [flags]",
		Short: "Tell what a stream is and what it holds",
		Long: `Tell what a stream is and what it holds.

  records, segments    what is there
  bytes                of files, and of records in memory
  first_seq, next_seq  the first record there, and the number of the next one
  durable_seq          all records below are known to be on disk
  min_ts, max_ts       the smallest and the largest time
  appended, dropped    records ever appended; those that are gone again
  syncs                empty: only the writer's process knows
  capacity, width      records a segment, bytes a record
  schema               the unit of ts, then each field with kind and scale
  consumers            how many there are
  lag, lag_time        what the one furthest behind has not committed, in
                       records and by ts`,
		Example: `  ledgerctl stat data/fills
  ledgerctl stat data/fills --format json | jq -r '.[0].next_seq'`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(_ context.Context, args []string) error {
		return a.withReader(args[0], func(r *stream.Reader) error {
			s, err := r.Stats()
			if err != nil {
				return err
			}
			w := a.listing(l, statColumns(l))
			row := factRow{raw: l.rawValues}
			row.stat(s, r.Info())
			if err := w.Write(&row.Row); err != nil {
				return err
			}
			return errors.Join(s.ConsumersErr, w.Close())
		})
	})
	l.addFormat(cmd)
	l.addRaw(cmd, rawTimes)
	return cmd
}

func newSegments(a *app) *cobra.Command {
	l := &listFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "segments DIR [flags]",
		Short: "List a stream's segments",
		Long: `List a stream's segments, oldest first, a row each.

  file       its name; empty for one in memory, which the journals hold
  sealed_at  when it was written, which is not the time of its records
  state      sealed (a file), sealing (on its way), active (being filled)`,
		Example: `  ledgerctl segments data/fills
  ledgerctl segments data/fills --format csv | tail -n 3`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(_ context.Context, args []string) error {
		return a.withSnapshot(args[0], func(snap *stream.Snapshot) error { return a.segments(snap, l) })
	})
	l.addFormat(cmd)
	l.addRaw(cmd, rawTimes)
	return cmd
}

func (a *app) segments(snap *stream.Snapshot, l *listFlags) error {
	list, err := snap.Segments()
	if err != nil {
		return err
	}
	w := a.listing(l, []listing.Column{
		{Name: "file"},
		{Name: "first_seq", Kind: listing.Exact},
		{Name: "count", Kind: listing.Number},
		{Name: "min_ts", Kind: l.timeKind()},
		{Name: "max_ts", Kind: l.timeKind()},
		{Name: "sealed_at", Kind: l.timeKind()},
		{Name: "bytes", Kind: listing.Number},
		{Name: "layout"},
		{Name: "state"},
	})
	row := factRow{raw: l.rawValues}
	for _, s := range list {
		row.Reset()
		row.Text(s.File)
		row.Uint(uint64(s.First))
		row.Uint(s.Count)
		row.times(s.MinTime, s.MaxTime, snap.Schema().Unit(), s.Count)
		row.sealedAt(s.SealedAt)
		row.Int(s.Bytes)
		row.Text(s.Layout.String())
		row.Text(s.State)
		if err := w.Write(&row.Row); err != nil {
			return err
		}
	}
	return w.Close()
}
