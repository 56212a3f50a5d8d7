package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/importer"
	"example.com/ledger/cmd/ledgerctl/internal/legacy"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

type importFlags struct {
	listFlags
	preset string
	list   bool
	dryRun bool

	maps       []string
	timeColumn string
	timeUnit   string
	date       string
	zone       string
	symbol     string
	columns    []string
	delimiter  string
	ticks      []string
	rejects    string
	again      bool

	shape      string
	unit       flagValue[schema.Unit]
	pxScale    uint8
	qtyScale   uint8
	durability flagValue[stream.Durability]
	changed    func(flag string) bool
}

func newImport(a *app) *cobra.Command {
	f := &importFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "import DIR FILE... --preset NAME [flags]",
		Short: "Bring in files of venues and other systems",
		Long: `Append the rows of files to the stream in DIR, which is made if there is none. A
preset says what the files are; --list-presets tells which there are, and with
--preset what one of them does. Files may be compressed (gz, zst, xz, zip); "-"
is standard input.

Every value is exact or refused: a digit more than the field's scale, a value
beyond its kind, an exponent, a broken row. Files are read twice, and checked as
a whole before anything is appended: one bad row stops the import with its file,
line and column, unless --rejects takes it. What can't be read twice, such as
standard input, is appended as it comes.

An import that was interrupted, killed even, can be run again: it goes on where
it ended. A file that was imported is not appended twice, whatever its name,
unless --again asks for it. How far each file has come is in imports.json in
DIR; texts such as symbols get numbers, and stand in dictionary.json.

For csv and jsonl, and to change another preset, --map FIELD=COLUMN says what
goes where, with what the column holds behind colons: a kind and decimals for a
stream that is made (px=price:i64:2), e4 for whole numbers of 10^-4, int, text,
side, a table (kind=action:{new=1,gone=3}), or a form of time. FIELD= fills it
no more.

At the end it prints what it did: records, what was appended and what was there
before, the range of times, times that go back, duplicates, quantities of 0.

For --preset oxls the stream keeps the files' sequence numbers. A file whose
count is still 0, because its writer died, gives all the records that it has.`,
		Example: `  ledgerctl import data/aapl AAPL_2012-06-21_34200000_57600000_message_50.csv \
    --preset lobster
  ledgerctl import data/btc BTCUSDT-trades-2024-08-*.zip \
    --preset binance-trades --rejects bad.jsonl
  ledgerctl import data/mine trades.csv.gz --preset csv --time-column time \
    --map px=price:2 --map qty=size --map sym=ticker:text
  ledgerctl import data/fills old/fills --preset oxls
  ledgerctl import --list-presets --preset bitstamp`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.list:
				return nil
			case len(args) < 2 || slices.Contains(args, ""):
				return usagef("import what, and where to? name the stream's directory, then the files")
			case f.preset == "":
				return usagef("what are the files? give --preset; --list-presets tells which there are")
			}
			a.stream = args[0]
			return nil
		},
		ValidArgsFunction: importArgs,
	}, func(ctx context.Context, args []string) error { return a.importFiles(ctx, args, f) })
	f.changed = cmd.Flags().Changed
	f.unit = flagValue[schema.Unit]{name: "unit", parse: schema.ParseUnit}
	f.durability = flagValue[stream.Durability]{name: "mode", parse: stream.ParseDurability}
	flags := cmd.Flags()
	flags.StringVarP(&f.preset, "preset", "p", "", "what the files are, by `name`")
	flags.BoolVar(&f.list, "list-presets", false, "list the presets, or with --preset what one does")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "read and check the files, write nothing")
	flags.StringArrayVar(&f.maps, "map", nil, "`FIELD=COLUMN`, as in px=price:2; once for each")
	flags.StringVar(&f.timeColumn, "time-column", "", "the `column` of the records' time")
	flags.StringVar(&f.timeUnit, "time-unit", "auto", "its `form`: s, ms, us, ns, iso or midnight")
	flags.StringVar(&f.date, "date", "", "the `day` of times of day, as in 2012-06-21 (from the file's name)")
	flags.StringVar(&f.zone, "tz", "", "the `zone` of times without one (the preset's, or UTC)")
	flags.StringVar(&f.symbol, "symbol", "", "the `symbol` of all rows (from the file's name)")
	flags.StringSliceVar(&f.columns, "columns", nil, "csv: the columns' `names`, for files without a header")
	flags.StringVar(&f.delimiter, "delimiter", ",", "csv: what stands between cells")
	flags.StringArrayVar(&f.ticks, "tick", nil, "`SYMBOL=STEP`, as in BTC-USD=0.01: refuse prices between two steps")
	flags.StringVar(&f.rejects, "rejects", "", "set bad rows aside in this `file`, as JSON lines, and go on")
	flags.BoolVar(&f.again, "again", false, "append files that were imported before once more")
	flags.StringVar(&f.shape, "shape", "", "a new stream: the records' shape, by `name` (the preset's; oxls: fill)")
	flags.Var(&f.unit, "unit", "a new stream: what ts counts: ns, us or ms (ns; oxls: us)")
	flags.Uint8Var(&f.pxScale, "px-scale", 0, "a new stream: `decimals` of prices (the preset's)")
	flags.Uint8Var(&f.qtyScale, "qty-scale", 0, "a new stream: `decimals` of quantities (the preset's)")
	flags.Var(&f.durability, "durability", "a new stream: commit, sealed or os (commit)")
	f.addFormat(cmd)
	f.addRaw(cmd, rawTimes)
	complete(cmd, "preset", presetNames()...)
	complete(cmd, "shape", shapes.Names()...)
	complete(cmd, "unit", "ns", "us", "ms")
	complete(cmd, "time-unit", "auto", "s", "ms", "us", "ns", "iso", "midnight")
	complete(cmd, "durability", "commit", "sealed", "os")
	return cmd
}

// importArgs completes a stream's directory, then files.
func importArgs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return nil, cobra.ShellCompDirectiveDefault
}

func (a *app) importFiles(ctx context.Context, args []string, f *importFlags) error {
	switch {
	case f.list:
		return a.listPresets(f)
	case f.preset == presetOriginal:
		return a.importOriginal(ctx, args, f)
	}
	p, ok := importer.ByName(f.preset)
	if !ok {
		return usagef("no preset %q; --list-presets tells which there are", f.preset)
	}
	return a.importVenue(ctx, args, f, p)
}

// notOriginal are the flags that mean nothing for segments of the original engine,
// which aren't rows of a file.
var notOriginal = []string{"map", "time-column", "time-unit", "date", "tz", "symbol", "columns", "delimiter", "tick",
	"rejects", "again", "format", "raw-values"}

// originalSchema is what segments of the original engine hold, by the flags.
func (f *importFlags) originalSchema() (*schema.Schema, error) {
	for _, flag := range notOriginal {
		if f.changed(flag) {
			return nil, fmt.Errorf("--%s is not for --preset %s", flag, presetOriginal)
		}
	}
	name := f.shape
	if name == "" {
		name = "fill"
	}
	s, ok := shapes.ByName(name)
	if !ok {
		return nil, fmt.Errorf("no shape %q; there are %s", name, strings.Join(shapes.Names(), ", "))
	}
	unit := schema.Microsecond
	if f.unit.set() {
		unit = f.unit.v
	}
	s, err := s.WithUnit(unit)
	if err != nil {
		return nil, err
	}
	return f.scaled(s)
}

// importOriginal brings in segments of the original engine.
func (a *app) importOriginal(ctx context.Context, args []string, f *importFlags) error {
	sch, err := f.originalSchema()
	if err != nil {
		return &usageError{err}
	}
	unit := sch.Unit()
	r, err := legacy.Import(ctx, args[0], args[1:], stream.Options{Schema: sch, Durability: f.durability.v}, f.dryRun)
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
