package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// consumerFlags say what is to be done to one consumer; without a name the
// consumers are listed.
type consumerFlags struct {
	name     string
	position uint64
	hold     uint64
	remove   bool
	yes      bool

	setPosition, setHold bool
}

func newConsumers(a *app) *cobra.Command {
	l, f := &listFlags{}, &consumerFlags{}
	var cmd *cobra.Command
	cmd = a.verb(&cobra.Command{
		Use:   "consumers DIR... [flags]",
		Short: "List the named consumers of streams, and change one",
		Long: `List the named consumers of streams, a row each: how far each one has got, and
what retention keeps for it. It works beside a live writer.

  position      the number of the record that it reads next
  lag           records that it has not committed yet
  lag_time      the same by ts, from the first of them to the newest; where the
                first is in a sealed segment, from the smallest ts there
  hold          how many unread records retention keeps for it at most
  held_from     the first number that retention keeps for it now
  committed_at  its last commit

With --name it changes one consumer of one stream instead, and makes one that is
not there, beside the writer too. A program that has the consumer open keeps a
new hold, but goes on from its own position: stop it before --position and
--remove. --remove asks first; where nobody can be asked it wants --yes.`,
		Example: `  ledgerctl consumers data/fills data/orders
  ledgerctl consumers data/fills --name risk --hold 1000000
  ledgerctl consumers data/fills --name risk --position 0   # read all again
  ledgerctl consumers data/fills --name gone --remove --yes`,
		Args: func(_ *cobra.Command, args []string) error {
			if err := someStreams(args); err != nil {
				return err
			}
			if len(args) == 1 {
				a.stream = args[0]
			}
			return nil
		},
		ValidArgsFunction: directories(false),
	}, func(ctx context.Context, args []string) error {
		f.setPosition, f.setHold = cmd.Flags().Changed("position"), cmd.Flags().Changed("hold")
		if err := f.check(len(args), cmd.Flags().Changed("name")); err != nil {
			return err
		}
		if f.name != "" {
			return a.changeConsumer(args[0], f)
		}
		return a.consumers(ctx, args, l)
	})
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "change the consumer of that `name`")
	flags.Uint64Var(&f.position, "position", 0, "it reads the record with this `seq` next, and all behind it")
	flags.Uint64Var(&f.hold, "hold", 0, "retention keeps what it has not read, at most this many `records`; 0 ends that")
	flags.BoolVar(&f.remove, "remove", false, "forget it, and what it holds")
	flags.BoolVarP(&f.yes, "yes", "y", false, "don't ask")
	completeWith(cmd, "name", completeConsumers)
	l.addFormat(cmd)
	l.addRaw(cmd, "times as integers, committed_at in milliseconds")
	return cmd
}

// check tells whether the flags go together.
func (f *consumerFlags) check(dirs int, named bool) error {
	change := f.setPosition || f.setHold || f.remove
	switch {
	case !named && (change || f.yes):
		return usagef("which consumer? give its --name")
	case !named:
		return nil
	case f.name == "":
		return usagef("a consumer's name has at least one letter")
	case !change:
		return usagef("what is to change? give --position, --hold or --remove")
	case f.remove && (f.setPosition || f.setHold):
		return usagef("--remove excludes --position and --hold")
	case f.yes && !f.remove:
		return usagef("--yes is for --remove: nothing else asks")
	case dirs > 1:
		return usagef("a consumer is changed in one stream at a time")
	}
	return nil
}

// consumers lists. A stream whose consumers can't be read doesn't keep the others
// from being listed.
func (a *app) consumers(ctx context.Context, dirs []string, l *listFlags) error {
	w := a.listing(l, []listing.Column{
		{Name: "stream"},
		{Name: "consumer"},
		{Name: "position", Kind: listing.Exact},
		{Name: "lag", Kind: listing.Number},
		{Name: "lag_time", Kind: l.durationKind()},
		{Name: "hold", Kind: listing.Exact},
		{Name: "held_from", Kind: listing.Exact},
		{Name: "committed_at", Kind: l.timeKind()},
	})
	row := factRow{raw: l.rawValues}
	var errs []error
	for _, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return err
		}
		list, unit, err := consumersOf(dir)
		if err != nil {
			errs = append(errs, err)
		}
		for _, c := range list {
			row.Reset()
			row.Text(dir)
			row.consumer(c, unit)
			if err := w.Write(&row.Row); err != nil {
				return err
			}
		}
	}
	return errors.Join(append(errs, w.Close())...)
}

// consumer adds the cells of a consumer of a stream with the unit u.
func (r *factRow) consumer(c stream.ConsumerInfo, u schema.Unit) {
	r.Text(c.Name)
	r.Uint(uint64(c.Position))
	r.Uint(c.Lag)
	r.span(c.LagTime, u)
	r.Uint(c.Hold)
	if c.Hold == 0 {
		r.Empty()
	} else {
		r.Uint(uint64(c.HeldFrom()))
	}
	if c.At.IsZero() {
		r.Empty()
	} else {
		r.time(c.At.UnixMilli(), schema.Millisecond)
	}
}

// consumersOf returns the consumers of the stream in dir that can be read, the
// unit of its times, and why others can't.
func consumersOf(dir string) ([]stream.ConsumerInfo, schema.Unit, error) {
	r, err := stream.OpenReader(dir)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	list, err := r.Consumers()
	if err != nil {
		err = fmt.Errorf("consumers of %s: %w", dir, err)
	}
	return list, r.Schema().Unit(), err
}

// changeConsumer makes a consumer what the flags ask for. Removing is for one
// that is there, damaged or not; the others make it.
func (a *app) changeConsumer(dir string, f *consumerFlags) error {
	if f.remove {
		return a.removeConsumer(dir, f)
	}
	if f.setPosition {
		if err := inStream(dir, f.position); err != nil {
			return err
		}
	}
	c, err := stream.OpenConsumer(dir, f.name)
	if errors.Is(err, stream.ErrName) {
		return &usageError{err}
	}
	if err != nil {
		return err
	}
	list, _, lerr := consumersOf(dir)
	known := lerr != nil || slices.ContainsFunc(list, func(i stream.ConsumerInfo) bool { return i.Name == f.name })
	if f.setPosition {
		err = c.Reset(stream.Seq(f.position))
	}
	if err == nil && f.setHold {
		err = c.Hold(f.hold)
	}
	if err != nil {
		return err
	}
	held := "nothing held for it"
	if h := c.Held(); h > 0 {
		held = plural(h, "record") + " held for it at most"
	}
	what := "consumer"
	if !known { // a name with a slip in it shows
		what = "new consumer"
	}
	a.note("%s %s of %s reads %d next, %s", what, f.name, dir, c.Position(), held)
	return nil
}

func (a *app) removeConsumer(dir string, f *consumerFlags) error {
	if !f.yes && !a.inTerminal {
		return usagef("--remove asks, and there is no terminal to ask on: say --yes if you mean it")
	}
	if !f.yes {
		list, _, err := consumersOf(dir)
		state := ""
		if i := slices.IndexFunc(list, func(c stream.ConsumerInfo) bool { return c.Name == f.name }); i >= 0 {
			state = fmt.Sprintf("reads %d next, %s held", list[i].Position, plural(list[i].Hold, "record"))
		} else if errors.Is(err, stream.ErrCorrupt) {
			state = "can't be read"
		}
		// One that isn't there is not asked for: removing it says so.
		if state != "" && !a.ask("remove consumer %s of %s: %s?", f.name, dir, state) {
			return errDeclined
		}
	}
	err := stream.RemoveConsumer(dir, f.name)
	switch {
	case errors.Is(err, stream.ErrName):
		return &usageError{err}
	case errors.Is(err, stream.ErrNotFound):
		return &hintedError{err, "ledgerctl consumers " + dir + " lists them"}
	case err == nil:
		a.note("removed consumer %s of %s", f.name, dir)
	}
	return err
}

// inStream refuses a position that the stream has not come to.
func inStream(dir string, position uint64) error {
	r, err := stream.OpenReader(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := r.Snapshot()
	if err != nil {
		return err
	}
	defer n.Close()
	if end := uint64(n.End()); position > end {
		return usagef("--position %d: the next record will be %d", position, end)
	}
	return nil
}

// completeConsumers completes with the consumers of the stream that the command
// line names already.
func completeConsumers(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, _, err := consumersOf(args[0])
	if err != nil && len(list) == 0 {
		return nil, cobra.ShellCompDirectiveError
	}
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
