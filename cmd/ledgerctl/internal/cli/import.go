package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/legacy"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// A preset says what the files of an import are.
type preset struct {
	name, about string
}

var presets = []preset{
	{"oxls", "segments of the original engine, files or directories of them; their numbers are kept"},
}

type importFlags struct {
	preset string
	list   bool
	dryRun bool
	shape  string
	unit   flagValue[schema.Unit]
}

func newImport(a *app) *cobra.Command {
	f := &importFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "import DIR FILE... --preset NAME [flags]",
		Short: "Bring in files of another system",
		Long: `Append the records of files to the stream in DIR, which is made if there is none.
Files that are damaged, or don't follow each other, are refused, and nothing of
them is appended. An import that was interrupted can be run again: what is there
already is compared, not appended twice.

For --preset oxls the stream keeps the files' sequence numbers. A file whose
count is still 0, because its writer died, gives all the records that it has.`,
		Example: `  ledgerctl import data/fills old/fills --preset oxls
  ledgerctl import data/orders old/*.seg --preset oxls --shape order --dry-run
  ledgerctl import --list-presets`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.list:
				return nil
			case len(args) < 2:
				return usagef("import what, and where to? name the stream's directory, then the files")
			case f.preset == "":
				return usagef("what are the files? give --preset; --list-presets tells which there are")
			}
			a.stream = args[0]
			return nil
		},
	}, func(ctx context.Context, args []string) error { return a.importFiles(ctx, args, f) })
	f.unit = flagValue[schema.Unit]{name: "unit", parse: schema.ParseUnit}
	flags := cmd.Flags()
	flags.StringVarP(&f.preset, "preset", "p", "", "what the files are, by `name`")
	flags.BoolVar(&f.list, "list-presets", false, "list the presets")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "read and check the files, write nothing")
	flags.StringVar(&f.shape, "shape", "fill", "oxls: the records' shape, by `name`")
	flags.Var(&f.unit, "unit", "oxls: what ts counts: ns, us or ms (us)")
	complete(cmd, "preset", "oxls")
	complete(cmd, "shape", shapes.Names()...)
	complete(cmd, "unit", "ns", "us", "ms")
	return cmd
}

func (a *app) importFiles(ctx context.Context, args []string, f *importFlags) error {
	if f.list {
		for _, p := range presets {
			if _, err := fmt.Fprintf(a.out, "%s\t%s\n", p.name, p.about); err != nil {
				return err
			}
		}
		return nil
	}
	if !slices.ContainsFunc(presets, func(p preset) bool { return p.name == f.preset }) {
		return usagef("no preset %q; --list-presets tells which there are", f.preset)
	}
	sch, ok := shapes.ByName(f.shape)
	if !ok {
		return usagef("no shape %q; there are %s", f.shape, strings.Join(shapes.Names(), ", "))
	}
	unit := schema.Microsecond
	if f.unit.v != 0 {
		unit = f.unit.v
	}
	sch, err := sch.WithUnit(unit)
	if err != nil {
		return err
	}
	r, err := legacy.Import(ctx, args[0], args[1:], stream.Options{Schema: sch}, f.dryRun)
	if err != nil {
		return err
	}
	for _, path := range r.Counted {
		a.note("%s: its writer died: the records are counted from the file's size", path)
	}
	if r.Torn > 0 {
		a.note("%d bytes of records that were not written whole are left out", r.Torn)
	}
	a.note("%s in %s: records %s, %s to %s", plural(r.Records, "record"), plural(uint64(r.Files), "file"),
		seqRange(uint64(r.First), uint64(r.Next)), string(value.AppendTime(nil, r.MinTime, unit)), string(value.AppendTime(nil, r.MaxTime, unit)))
	if f.dryRun {
		return nil
	}
	a.note("appended %d to %s; %d were there", r.Appended, args[0], r.There)
	return nil
}
