package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/ledger/cmd/ledgerctl/internal/importer"
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
	"example.com/ledger/shapes"
)

// presetOriginal is the preset that package importer doesn't know: its files
// aren't rows.
const (
	presetOriginal = "oxls"
	aboutOriginal  = "segments of the original engine, files or directories of them; their numbers are kept"
)

func presetNames() []string {
	names := []string{presetOriginal}
	for _, p := range importer.Presets() {
		names = append(names, p.Name)
	}
	return names
}

// listPresets prints the presets, or what one of them does.
func (a *app) listPresets(f *importFlags) error {
	if f.preset != "" {
		return a.describePreset(f.preset)
	}
	w := a.listing(&f.listFlags, []listing.Column{{Name: "preset"}, {Name: "about"}})
	var row listing.Row
	add := func(name, about string) error {
		row.Reset()
		row.Text(name)
		row.Text(about)
		return w.Write(&row)
	}
	if err := add(presetOriginal, aboutOriginal); err != nil {
		return err
	}
	for _, p := range importer.Presets() {
		if err := add(p.Name, p.About); err != nil {
			return err
		}
	}
	return w.Close()
}

// describePreset tells which column a preset puts into which field.
func (a *app) describePreset(name string) error {
	if name == presetOriginal {
		fmt.Fprintf(a.out, "%s\t%s\n", presetOriginal, aboutOriginal)
		return a.out.Flush()
	}
	p, ok := importer.ByName(name)
	if !ok {
		return usagef("no preset %q; --list-presets tells which there are", name)
	}
	fmt.Fprintf(a.out, "%s\t%s\n", p.Name, p.About)
	if p.Doc != "" {
		fmt.Fprintln(a.out, p.Doc)
	}
	if s, err := p.Schema(); err == nil {
		fmt.Fprintf(a.out, "a new stream has %s\n", s)
	}
	for _, line := range p.Describe() {
		fmt.Fprintln(a.out, line)
	}
	return a.out.Flush()
}

// importVenue appends rows of files.
func (a *app) importVenue(ctx context.Context, args []string, f *importFlags, p importer.Preset) (err error) {
	o, err := f.options(p)
	if err != nil {
		return &usageError{err}
	}
	o.Dir, o.Paths, o.Stdin, o.Note = args[0], args[1:], a.in, a.note
	bar := a.importBar(o.Paths, f.dryRun)
	defer bar.end()
	o.Progress = bar.add
	if f.rejects != "" {
		file, rerr := rejectsFile(f.rejects, o.Paths)
		if rerr != nil {
			return rerr
		}
		defer func() {
			if cerr := file.Close(); err == nil {
				err = cerr
			}
		}()
		o.Rejects = file
	}
	r, err := importer.Import(ctx, o)
	bar.end()
	if err != nil {
		return a.importFailed(err, r)
	}
	if len(r.Unused) > 0 {
		a.note("columns that are not kept: %s", strings.Join(named(r.Unused), ", "))
	}
	if len(r.Unfilled) > 0 {
		a.note("fields that are 0: %s", strings.Join(r.Unfilled, ", "))
	}
	if r.Rejected > 0 {
		a.note("%s set aside in %s", plural(r.Rejected, "bad row"), f.rejects)
	}
	if err := a.importReport(f, r); err != nil {
		return err
	}
	if r.Rejected > 0 && r.Records == 0 {
		return errors.New("no row was good: is it the right preset?")
	}
	return nil
}

// named makes columns without a name visible.
func named(columns []string) []string {
	out := slices.Clone(columns)
	for i, c := range out {
		if c == "" {
			out[i] = "(unnamed)"
		}
	}
	return out
}

// importFailed adds to an error how far the import came.
func (a *app) importFailed(err error, r importer.Report) error {
	text := "nothing was appended"
	if r.Appended > 0 {
		text = "appended before it: " + plural(r.Appended, "record")
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
		if text += "; run it again to go on"; r.Once {
			text += ", from a pipe with the rows that are left"
		}
	}
	if errors.As(err, new(*importer.RowError)) {
		text += "; mend the row, or set such rows aside with --rejects FILE"
	}
	if hint := a.hint(err); hint != "" && !errors.Is(err, errInterrupted) {
		text += "; " + hint
	}
	return &hintedError{err, text}
}

// importReport prints what was done.
func (a *app) importReport(f *importFlags, r importer.Report) error {
	kinds := []listing.Column{
		{Name: "inputs", Kind: listing.Number}, {Name: "records", Kind: listing.Exact}, {Name: "appended", Kind: listing.Exact},
		{Name: "there", Kind: listing.Exact}, {Name: "first_seq", Kind: listing.Exact}, {Name: "rejected", Kind: listing.Exact},
		{Name: "skipped", Kind: listing.Exact}, {Name: "min_ts", Kind: listing.Time}, {Name: "max_ts", Kind: listing.Time},
		{Name: "backward", Kind: listing.Exact}, {Name: "venue_backward", Kind: listing.Exact}, {Name: "duplicates", Kind: listing.Exact},
		{Name: "zero_qty", Kind: listing.Exact}, {Name: "rounded", Kind: listing.Exact},
	}
	if f.rawValues {
		kinds[7].Kind, kinds[8].Kind = listing.Exact, listing.Exact
	}
	w := a.listing(&f.listFlags, kinds)
	var row listing.Row
	row.Int(int64(r.Inputs))
	row.Uint(r.Records)
	row.Uint(r.Appended)
	row.Uint(r.There)
	if r.Appended > 0 {
		row.Uint(uint64(r.First))
	} else {
		row.End()
	}
	row.Uint(r.Rejected)
	row.Uint(r.Skipped)
	for _, ts := range []int64{r.MinTime, r.MaxTime} {
		switch {
		case r.Records == 0:
			row.End()
		case f.rawValues:
			row.Int(ts)
		default:
			row.Buf = value.AppendTime(row.Buf, ts, r.Unit)
			row.End()
		}
	}
	for _, n := range []uint64{r.Backward, r.VenueBackward, r.Duplicates, r.ZeroQty, r.Rounded} {
		row.Uint(n)
	}
	if err := w.Write(&row); err != nil {
		return err
	}
	return w.Close()
}

// importBar shows how much has been read: files are read twice.
func (a *app) importBar(paths []string, dryRun bool) *progress {
	var total int64
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		total += info.Size()
	}
	if !dryRun {
		total *= 2
	}
	return a.progress("bytes", total, true)
}

// rejectsFile makes the file for bad rows, which must be none of the inputs.
func rejectsFile(path string, inputs []string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil {
		for _, in := range inputs {
			if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
				return nil, usagef("--rejects would overwrite the input %s", in)
			}
		}
	}
	return os.Create(path)
}

// options turns the flags into what package importer takes.
func (f *importFlags) options(p importer.Preset) (importer.Options, error) {
	o := importer.Options{Symbol: f.symbol, Date: f.date, DryRun: f.dryRun, Again: f.again}
	o.Stream.Durability = f.durability.v
	if f.zone != "" {
		zone, err := time.LoadLocation(f.zone)
		if err != nil {
			return o, fmt.Errorf("--tz: %q is no zone, as in America/New_York", f.zone)
		}
		o.Zone = zone
	}
	for _, t := range f.ticks {
		symbol, step, ok := cutLast(t, "=")
		if _, err := schema.ParseDecimal(step, schema.I64, schema.ScaleMax); !ok || symbol == "" || err != nil {
			return o, fmt.Errorf("--tick: %q: write SYMBOL=STEP, as in BTC-USD=0.01", t)
		}
		if o.Ticks == nil {
			o.Ticks = map[string]string{}
		}
		o.Ticks[symbol] = schema.TrimZeros(step)
	}
	p, fields, err := f.rules(p)
	if err != nil {
		return o, err
	}
	o.Preset = p
	o.Schema, err = f.schema(p, fields)
	return o, err
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// rules puts the caller's own into the preset. It returns their fields too.
func (f *importFlags) rules(p importer.Preset) (importer.Preset, []schema.Field, error) {
	var rules []importer.Rule
	var fields []schema.Field
	for _, m := range f.maps {
		rule, field, err := importer.ParseRule(m)
		if err != nil {
			return p, nil, fmt.Errorf("--map: %w", err)
		}
		rules = append(rules, rule)
		if field.Kind != 0 {
			fields = append(fields, field)
		}
	}
	if f.timeColumn != "" || f.changed("time-unit") {
		form, err := importer.ParseTimeForm(f.timeUnit)
		if err != nil {
			return p, nil, fmt.Errorf("--time-unit: %w", err)
		}
		if f.timeColumn == "" {
			return p, nil, errors.New("--time-unit is that of --time-column, which is missing")
		}
		rules = append(rules, importer.Rule{To: "ts", From: f.timeColumn, As: importer.Time(form)})
	}
	if len(f.columns) > 0 || f.changed("delimiter") {
		if p.Name != "csv" {
			return p, nil, errors.New("--columns and --delimiter are for --preset csv")
		}
		if f.delimiter == "" || strings.ContainsAny(f.delimiter, "\"\r\n ") {
			return p, nil, fmt.Errorf("--delimiter: %q can't stand between cells", f.delimiter)
		}
		p.Format.Columns, p.Format.Comma = f.columns, f.delimiter
	}
	return p.WithRules(rules), fields, nil
}

// schema is what a new stream gets, nil where the flags leave it to the preset.
func (f *importFlags) schema(p importer.Preset, fields []schema.Field) (*schema.Schema, error) {
	var s *schema.Schema
	var err error
	switch {
	case f.shape != "":
		var ok bool
		if s, ok = shapes.ByName(f.shape); !ok {
			return nil, fmt.Errorf("no shape %q; there are %s", f.shape, strings.Join(shapes.Names(), ", "))
		}
		if p.Shape != "" || p.Fields != nil {
			if s, err = shapes.Scaled(f.shape, p.Px, p.Qty); err != nil {
				return nil, err
			}
		}
	case p.Shape == "" && p.Fields == nil && fields == nil:
		return nil, nil
	case p.Shape == "" && p.Fields == nil:
		s, err = schema.New(schema.Nanosecond, fields...)
	default:
		s, err = p.Schema()
	}
	if err == nil && f.unit.set() {
		s, err = s.WithUnit(f.unit.v)
	}
	if err != nil {
		return nil, err
	}
	return f.scaled(s)
}

// scaled gives prices and quantities the decimals that the flags ask for.
func (f *importFlags) scaled(s *schema.Schema) (*schema.Schema, error) {
	var err error
	for _, scale := range []struct {
		flag, field string
		v           uint8
	}{{"px-scale", "px", f.pxScale}, {"qty-scale", "qty", f.qtyScale}} {
		if err == nil && f.changed(scale.flag) {
			s, err = s.WithScale(scale.field, scale.v)
		}
	}
	return s, err
}
