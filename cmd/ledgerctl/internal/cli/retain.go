package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

type retainFlags struct {
	listFlags
	policy policyFlags
	dryRun bool
	yes    bool
}

func newRetain(a *app) *cobra.Command {
	f := &retainFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "retain DIR RULE... [flags]",
		Short: "Drop old segments",
		Long: `Drop sealed segments that a rule chooses, whole; several rules drop what any one
of them drops. The segment that is being filled stays. Sequence numbers go on as
if nothing had happened, and drops.json keeps which are gone and why.

What was dropped is printed, a row each. On a terminal it asks first, unless
--yes; --dry-run only prints what would go, and works beside a live writer.`,
		Example: `  ledgerctl retain data/fills --max-age 30d --dry-run
  ledgerctl retain data/fills --before 2026-10-01T00:00:00Z
  ledgerctl retain data/fills --max-bytes 10GiB --keep-records 1000000 --yes`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(_ context.Context, args []string) error { return a.retain(args[0], f) })
	f.policy.add(cmd)
	cmd.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "only print what would go")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "don't ask")
	f.addFormat(cmd)
	f.addRaw(cmd, rawTimes)
	return cmd
}

func (a *app) retain(dir string, f *retainFlags) (err error) {
	if !f.policy.given() {
		return usagef("which segments? give at least one rule, such as --max-age 30d")
	}
	if f.dryRun {
		return a.withReader(dir, func(r *stream.Reader) error { return a.retainDryRun(r, f) })
	}
	unit, err := streamUnit(dir)
	if err != nil {
		return err
	}
	p, err := f.policy.policy(unit)
	if err != nil {
		return err
	}
	st, err := a.openWriter(dir)
	if err != nil {
		return err
	}
	defer func() { err = closeWriter(st, err) }()
	if a.inTerminal && !f.yes {
		plan, err := st.Retain(p, true)
		if err != nil {
			return err
		}
		if len(plan) > 0 && !a.ask("drop %s from %s?", droppedText(plan), dir) {
			return errDeclined
		}
	}
	gone, err := st.Retain(p, false)
	if err != nil {
		return err
	}
	if err := a.listDropped(gone, unit, f); err != nil {
		return err
	}
	a.note("dropped %s", droppedText(gone))
	consumers, err := st.Consumers()
	if err == nil {
		a.held(consumers, st.Cursors().Published)
	}
	return err
}

// retainDryRun asks the policy itself, so that it needs no lock.
func (a *app) retainDryRun(r *stream.Reader, f *retainFlags) error {
	u := r.Schema().Unit()
	p, err := f.policy.policy(u)
	if err != nil {
		return err
	}
	snap, err := r.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	list, err := snap.Segments()
	if err != nil {
		return err
	}
	var sealed []retention.Segment
	var total retention.Totals
	for _, s := range list {
		total.Records += s.Count
		total.Bytes += s.Bytes
		if s.State == "sealed" {
			sealed = append(sealed, retention.Segment{First: uint64(s.First), End: uint64(s.First) + s.Count,
				MinTime: s.MinTime, MaxTime: s.MaxTime, SealedAt: s.SealedAt, Bytes: s.Bytes})
		}
	}
	consumers, err := r.Consumers()
	if err != nil {
		return err
	}
	plan := p.Select(sealed, total, time.Now(), u)
	if from, ok := a.held(consumers, snap.End()); ok {
		plan = slices.DeleteFunc(plan, func(d retention.Dropped) bool { return d.End > uint64(from) })
	}
	if err := a.listDropped(plan, u, f); err != nil {
		return err
	}
	a.note("would drop %s", droppedText(plan))
	return nil
}

// held returns the number from which on consumers hold the records, as the engine
// reckons, and tells of the one that holds most. next is the stream's end.
func (a *app) held(consumers []stream.ConsumerInfo, next stream.Seq) (from stream.Seq, ok bool) {
	var name string
	for _, c := range consumers {
		if c.Hold == 0 {
			continue
		}
		if at := max(c.Position, next-min(next, stream.Seq(c.Hold))); !ok || at < from {
			from, name, ok = at, c.Name, true
		}
	}
	if ok {
		a.note("consumer %s holds the records from %d on", name, from)
	}
	return from, ok
}

func (a *app) listDropped(list []retention.Dropped, u schema.Unit, f *retainFlags) error {
	w := a.listing(&f.listFlags, []listing.Column{
		{Name: "file"},
		{Name: "first_seq", Kind: listing.Exact},
		{Name: "count", Kind: listing.Number},
		{Name: "min_ts", Kind: f.timeKind()},
		{Name: "max_ts", Kind: f.timeKind()},
		{Name: "sealed_at", Kind: f.timeKind()},
		{Name: "bytes", Kind: listing.Number},
		{Name: "reason"},
	})
	row := factRow{raw: f.rawValues}
	for _, d := range list {
		row.Reset()
		row.Text(segment.Name(d.First))
		row.Uint(d.First)
		row.Uint(d.Records())
		row.times(d.MinTime, d.MaxTime, u, d.Records())
		row.sealedAt(d.SealedAt)
		row.Int(d.Bytes)
		row.Text(d.Reason)
		if err := w.Write(&row.Row); err != nil {
			return err
		}
	}
	return w.Close()
}

// droppedText sums up what goes.
func droppedText(list []retention.Dropped) string {
	if len(list) == 0 {
		return "nothing"
	}
	var records uint64
	var bytes int64
	for _, d := range list {
		records += d.Records()
		bytes += d.Bytes
	}
	return strings.Join([]string{
		plural(uint64(len(list)), "segment"), plural(records, "record"), value.FormatSize(bytes)}, ", ")
}
