// Package importer brings files of venues into a stream: CSV, JSON lines and
// Databento's DBN, plain or compressed, by presets that say which column goes
// into which field and how.
//
// Each value is exact or refused: a digit too many, a value too large for its
// field, an exponent in a number, a row of another shape. Files are read twice.
// The first time all of them are checked, so that nothing of any is appended
// where a row is wrong; the second time they are appended. What can't be read
// twice, such as standard input, is appended as it comes.
//
// How far each file has come is kept beside the stream, so that an import that
// was killed goes on where it ended, and a file is not appended twice: see
// position.
package importer

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// Options say what to import. Dir, Paths and Preset are needed.
type Options struct {
	Dir    string   // of the stream, which is made if there is none
	Paths  []string // of files, in the order in which they are appended; "-" is Stdin
	Stdin  io.Reader
	Preset Preset

	Schema *schema.Schema // of a stream that is made; nil for the preset's own. One that is there keeps its own
	Stream stream.Options // of a stream that is made; its Schema is not looked at

	Symbol string            // of all rows, where the file doesn't name one in each
	Date   string            // the day of times of day, as in 2012-06-21
	Zone   *time.Location    // of times without one; nil for the preset's
	Ticks  map[string]string // steps of prices, by symbol: a price between two is refused

	DryRun  bool
	Again   bool      // append files that were imported before once more
	Rejects io.Writer // nil to stop at a bad row; else bad rows go here, as JSON lines

	Progress func(bytes int64)           // told of bytes read; may be nil
	Note     func(text string, a ...any) // told of what isn't an error; may be nil
}

// A Report says what an import did, or would do.
type Report struct {
	Inputs   int    // files, members of archives counted each
	Once     bool   // one of them at least can't be read twice, so that no later run knows it again
	Records  uint64 // good rows
	Rejected uint64 // bad rows, set aside
	Skipped  uint64 // rows of kinds that the preset passes over

	MinTime, MaxTime int64  // in the stream's unit; of no meaning without records
	Backward         uint64 // records whose ts is less than the one before
	VenueBackward    uint64 // the same of venue_ts
	Duplicates       uint64 // records that are the same as one before, by the preset's key: see Preset.Key
	ZeroQty          uint64 // records with quantity 0
	Rounded          uint64 // times with more than nine decimals, rounded to ns

	Appended uint64     // by this run
	There    uint64     // by runs before
	First    stream.Seq // of the first record appended, if any
	Unit     schema.Unit
	Unused   []string // columns that are not kept
	Unfilled []string // fields that nothing fills: 0
}

// errChanged: a file is another one than when it was checked.
var errChanged = errors.New("the file has changed since it was checked")

// An importer is one run.
type importer struct {
	o      Options
	schema *schema.Schema
	width  int
	dict   *dictionary.Dictionary
	report Report
	stats  stats
	rows   []byte // records read and not yet appended
}

// Import appends the rows of files. What went before an error is in the Report.
//
// A wrong row is a *RowError, unless Rejects takes it. Where the files need no
// append, because an earlier run has done it, that is no error.
func Import(ctx context.Context, o Options) (Report, error) {
	im := &importer{o: o}
	if im.o.Note == nil {
		im.o.Note = func(string, ...any) {}
	}
	err := im.run(ctx)
	im.stats.into(&im.report)
	return im.report, err
}

func (im *importer) run(ctx context.Context) error {
	inputs, err := openAll(ctx, im.o.Paths, im.o.Stdin, im.o.Progress)
	if err != nil {
		return err
	}
	defer func() {
		for _, in := range inputs {
			in.close()
		}
	}()
	im.report.Inputs = len(inputs)
	im.report.Once = slices.ContainsFunc(inputs, func(in input) bool { return in.once })
	if err := im.look(); err != nil {
		return err
	}
	for i := range inputs {
		if in := &inputs[i]; !in.once || im.o.DryRun {
			if err := im.check(ctx, in); err != nil {
				return err
			}
		}
	}
	if im.o.DryRun {
		return nil
	}
	return im.write(ctx, inputs)
}

// look finds out what the stream is, or is to be.
func (im *importer) look() error {
	r, err := stream.OpenReader(im.o.Dir)
	switch {
	case errors.Is(err, stream.ErrNotFound):
		im.schema = im.o.Schema
		if im.schema == nil {
			if im.schema, err = im.o.Preset.Schema(); err != nil {
				return err
			}
		}
		im.dict = dictionary.New([16]byte{})
	case err != nil:
		return err
	default:
		im.schema = r.Schema()
		im.dict, err = dictionary.Load(im.o.Dir, r.Info().ID)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	im.width = im.schema.Width()
	im.report.Unit = im.schema.Unit()
	im.stats.init(im.schema, im.o.Preset.Key)
	return im.ticks(im.dict)
}

// ticks puts the steps that were told into the dictionary.
func (im *importer) ticks(d *dictionary.Dictionary) error {
	if len(im.o.Ticks) == 0 {
		return nil
	}
	_, px := im.schema.Index("px")
	if _, sym := im.schema.Index("sym"); !px || !sym {
		return errors.New("ticks need the fields px and sym, and the stream lacks one of them")
	}
	for _, text := range slices.Sorted(maps.Keys(im.o.Ticks)) {
		if err := d.SetTick("sym", text, im.o.Ticks[text]); err != nil {
			return err
		}
	}
	return nil
}

// check reads an input to its end without appending anything.
func (im *importer) check(ctx context.Context, in *input) error {
	r, err := im.open(in, im.dict)
	if err != nil {
		return err
	}
	rec := make([]byte, im.width)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := r.next(rec)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		in.records++
		im.stats.add(rec)
	}
	im.finish(r)
	in.sum = r.sum()
	return nil
}

// finish takes what a reader counted into the report.
func (im *importer) finish(r *rowReader) {
	im.report.Rounded += r.env.rounded
	im.report.Skipped += r.skipped
	im.report.Rejected += r.rejected
	im.report.Unused, im.report.Unfilled = r.unused, r.unfilled
}
