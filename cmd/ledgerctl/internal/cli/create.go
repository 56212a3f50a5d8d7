package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

type createFlags struct {
	shape      string
	fields     []string
	unit       flagValue[schema.Unit]
	capacity   int
	durability flagValue[stream.Durability]
	layout     flagValue[segment.Layout]
	syncEvery  *flagValue[time.Duration]
	policy     policyFlags
}

func newCreate(a *app) *cobra.Command {
	f := &createFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "create DIR {--shape NAME | --field FIELD...} [flags]",
		Short: "Make a new stream",
		Long: `Make a new stream in the directory DIR, which is made too if it is not there.

Every record has seq, which the stream gives it, and ts, its time. The rest are
up to 16 integer fields, from a ready-made shape or one --field each: a name of
a-z, 0-9 and _, a kind (i8 u8 i16 u16 i32 u32 i64 u64), and, for decimals, a
scale: px:i32:2 holds 64123.50 as 6412350.

Durability says what is on disk when an append returns:
  commit  the batch; it survives power loss
  sealed  the batch survives the death of the process, not power loss, until
          its segment is full (or --sync-every has passed)
  os      as sealed, and full segments aren't synced either

The rules from --before on are the stream's standing retention policy: it is
applied by every writer, to whole segments, and never to the one being filled.`,
		Example: `  ledgerctl create data/fills --shape fill
  ledgerctl create data/quotes --unit us \
    --field bid:i64:4 --field ask:i64:4 --field sym:u16
  ledgerctl create data/ticks --shape trade --durability sealed \
    --sync-every 100ms --max-age 30d`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(_ context.Context, args []string) error { return a.create(args[0], f) })

	f.unit = flagValue[schema.Unit]{name: "unit", parse: schema.ParseUnit}
	f.durability = flagValue[stream.Durability]{name: "mode", parse: stream.ParseDurability}
	f.layout = flagValue[segment.Layout]{name: "layout", parse: segment.ParseLayout}
	f.syncEvery = durationFlag()
	flags := cmd.Flags()
	flags.StringVar(&f.shape, "shape", "", "a ready-made record, by `name`: "+strings.Join(shapes.Names(), ", "))
	flags.StringArrayVar(&f.fields, "field", nil, "a `field`, as in px:i32:2; once for each, in order")
	flags.Var(&f.unit, "unit", "what ts counts: ns, us or ms (ns)")
	flags.IntVar(&f.capacity, "capacity", stream.CapacityDefault, "`records` a segment")
	flags.Var(&f.durability, "durability", "commit, sealed or os (commit)")
	flags.Var(&f.layout, "layout", "of full segments: columns or rows (columns)")
	flags.Var(f.syncEvery, "sync-every", "for sealed and os: sync this often, as in 100ms")
	f.policy.add(cmd)
	complete(cmd, "shape", shapes.Names()...)
	complete(cmd, "unit", "ns", "us", "ms")
	complete(cmd, "durability", "commit", "sealed", "os")
	complete(cmd, "layout", "columns", "rows")
	return cmd
}

func (a *app) create(dir string, f *createFlags) error {
	s, err := f.schema()
	if err != nil {
		return &usageError{err}
	}
	policy, err := f.policy.policy(s.Unit())
	if err != nil {
		return err
	}
	if f.capacity < 1 {
		return usagef("--capacity must be at least 1")
	}
	st, err := stream.Create(dir, stream.Options{
		Schema: s, Capacity: f.capacity, Durability: f.durability.v, Layout: f.layout.v,
		SyncEvery: f.syncEvery.v, Retention: policy,
	})
	if errors.Is(err, stream.ErrOption) {
		return &usageError{err}
	}
	if err != nil {
		return err
	}
	i := st.Info()
	if err := st.Close(); err != nil {
		return err
	}
	a.note("created %s: %s; %s", dir, i.Schema, settings(i))
	return nil
}

// settings writes what alter could change of a stream, and its layout.
func settings(i stream.Info) string {
	text := fmt.Sprintf("%d records a segment, %s, %s", i.Capacity, i.Durability, i.Layout)
	if i.SyncEvery > 0 {
		text += ", synced every " + value.FormatDuration(i.SyncEvery)
	}
	if !i.Retention.IsZero() {
		text += ", retention: " + policyText(i.Retention, i.Schema.Unit())
	}
	return text
}

// schema returns the shape, or what the fields make.
func (f *createFlags) schema() (*schema.Schema, error) {
	switch {
	case f.shape == "" && f.fields == nil:
		return nil, errors.New("what do the records hold? give --shape, or a --field for each")
	case f.shape != "" && f.fields != nil:
		return nil, errors.New("--shape and --field exclude each other: a shape has all its fields")
	case f.shape != "":
		s, ok := shapes.ByName(f.shape)
		if !ok {
			return nil, fmt.Errorf("no shape %q; there are %s", f.shape, strings.Join(shapes.Names(), ", "))
		}
		if f.unit.set() {
			return s.WithUnit(f.unit.v)
		}
		return s, nil
	}
	var fields []schema.Field
	var errs []error
	for _, text := range f.fields {
		field, err := schema.ParseField(text)
		fields, errs = append(fields, field), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return schema.New(f.unit.v, fields...)
}
