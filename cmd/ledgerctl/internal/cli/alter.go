package cli

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

type alterFlags struct {
	durability flagValue[stream.Durability]
	capacity   flagValue[int]
	syncEvery  *flagValue[time.Duration]
	policy     policyFlags
	keepAll    bool
}

func newAlter(a *app) *cobra.Command {
	f := &alterFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "alter DIR [flags]",
		Short: "Change a stream's settings from here on",
		Long: `Change a stream's durability, capacity, syncing or standing retention policy
from here on. The active segment is sealed; records that are there keep their
form. Raising the durability syncs all that is there first.

Rules replace the policy that the stream had: give all that are to hold.`,
		Example: `  ledgerctl alter data/fills --durability sealed --sync-every 100ms
  ledgerctl alter data/fills --max-age 30d --max-bytes 10GiB
  ledgerctl alter data/fills --keep-all`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(_ context.Context, args []string) error { return a.alter(args[0], f) })
	f.durability = flagValue[stream.Durability]{name: "mode", parse: stream.ParseDurability}
	f.syncEvery = durationFlag()
	flags := cmd.Flags()
	flags.Var(&f.durability, "durability", "commit, sealed or os")
	f.capacity = flagValue[int]{name: "records", parse: parseCapacity}
	flags.Var(&f.capacity, "capacity", "`records` a segment, from the next one on")
	flags.Var(f.syncEvery, "sync-every", "for sealed and os: sync this often, as in 100ms; 0 ends it")
	f.policy.add(cmd)
	flags.BoolVar(&f.keepAll, "keep-all", false, "end the standing policy")
	complete(cmd, "durability", "commit", "sealed", "os")
	return cmd
}

func (a *app) alter(dir string, f *alterFlags) error {
	unit, err := streamUnit(dir)
	if err != nil {
		return err
	}
	c, err := f.change(unit)
	if err != nil {
		return err
	}
	if c == (stream.Change{}) {
		return usagef("what is to change? give at least one flag")
	}
	i, err := stream.Alter(dir, c, stream.OpenOptions{})
	if errors.Is(err, stream.ErrOption) {
		return &usageError{err}
	}
	if err != nil {
		return err
	}
	a.note("altered %s: %s", dir, settings(i))
	return nil
}

func parseCapacity(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, errors.New("want a whole number from 1")
	}
	return n, nil
}

// streamUnit returns what a stream's times count.
func streamUnit(dir string) (schema.Unit, error) {
	r, err := stream.OpenReader(dir)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return r.Schema().Unit(), nil
}

// change is what the flags ask for.
func (f *alterFlags) change(u schema.Unit) (stream.Change, error) {
	var c stream.Change
	if f.durability.set() {
		c.Durability = &f.durability.v
	}
	if f.capacity.set() {
		c.Capacity = &f.capacity.v
	}
	if f.syncEvery.set() {
		c.SyncEvery = &f.syncEvery.v
	}
	switch {
	case f.keepAll && f.policy.given():
		return c, usagef("--keep-all and a rule exclude each other")
	case f.keepAll:
		c.Retention = &retention.Policy{}
	case f.policy.given():
		p, err := f.policy.policy(u)
		if err != nil {
			return c, err
		}
		c.Retention = &p
	}
	return c, nil
}
