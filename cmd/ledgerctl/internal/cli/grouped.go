package cli

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/query"
	"example.com/ledger/stream"
)

// symbolHelp tells with how many decimals rows are shown.
const symbolHelp = `Where a row is of one symbol, by --by sym or a condition such as
sym == "BTC-USD", px and qty have that symbol's decimals, as in dump; averages
don't. Rows that mix symbols have the field's decimals.`

// groupFlags are those of verbs that make one row of many records.
type groupFlags struct {
	rangeFlags
	listFlags
	by      []string
	every   flagValue[time.Duration]
	workers flagValue[int]
}

func (f *groupFlags) add(cmd *cobra.Command) {
	f.every = flagValue[time.Duration]{name: "duration", parse: parseInterval}
	f.workers = flagValue[int]{name: "n", parse: parseWorkers}
	cmd.Flags().Var(&f.every, "every", "a row for each interval of this `duration`, as in 1s, 5m, 1h, 1d")
	complete(cmd, "every", "1s", "10s", "1m", "5m", "1h", "1d")
	cmd.Flags().StringSliceVar(&f.by, "by", nil, "a row for each group that agrees in this `list` of fields")
	completeWith(cmd, "by", completeColumns)
	f.rangeFlags.add(cmd)
	f.addFormat(cmd)
	f.addRaw(cmd, rawRecords)
	cmd.Flags().Var(&f.workers, "workers", "scan with `n` goroutines (0: as many as there are processors)")
	completeWith(cmd, "workers", cobra.NoFileCompletions)
}

func parseInterval(s string) (time.Duration, error) {
	d, err := value.ParseDuration(s)
	if err == nil && d == 0 {
		err = errors.New("an interval must be longer than 0")
	}
	return d, err
}

// workersMax bounds the goroutines of a scan: more can't be of use.
const workersMax = 1024

func parseWorkers(s string) (int, error) {
	n, err := parseSeq(s)
	if err != nil || n > workersMax {
		return 0, errors.New("want a whole number from 0 to 1024")
	}
	return int(n), nil
}

// keys returns the columns that records are grouped by. One that isn't there is a
// usage error.
func (f *groupFlags) keys(snap *stream.Snapshot) ([]recordColumn, error) {
	if len(f.by) == 0 {
		return nil, nil
	}
	return chooseColumns(snap.Schema(), f.by, false)
}

// names returns the names of the columns that tell a row's group.
func (f *groupFlags) names(keys []recordColumn) []string {
	var names []string
	if f.every.set() {
		names = append(names, "ts")
	}
	for _, k := range keys {
		names = append(names, k.field.Name)
	}
	return names
}

// distinct makes two columns of one name a usage error: JSON can't tell them apart.
func distinct(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return usagef("two columns are called %q: leave one out, or give an aggregate another name with as", name)
		}
	}
	return nil
}

// grouped calls run with the query that the flags ask for, and returns their
// condition. It tells of records that are gone, and shows how far the scan is.
func (a *app) grouped(snap *stream.Snapshot, f *groupFlags, keys []recordColumn, run func(*query.Query) error) (query.Pred, error) {
	s, err := f.scan(snap, a.stream)
	if err != nil {
		return query.Pred{}, err
	}
	s.gone = a.noteGone
	parts := 0
	if err := s.parts(func(stream.Part) error { parts++; return nil }); err != nil {
		return query.Pred{}, err
	}
	q := query.From(snap).Seqs(s.from, s.to).Where(s.holds).Workers(f.workers.v)
	for _, k := range keys {
		q.By(k.field.Name)
	}
	if f.every.set() {
		q.Every(f.every.v)
	}
	end := a.watch(snap, parts, s.records())
	defer end()
	return s.holds, queryError(run(q))
}

// queryError tells apart the caller's mistakes, and what there is too much of.
func queryError(err error) error {
	switch {
	case errors.Is(err, query.ErrInvalid):
		return usagef("%s", queryText(err))
	case errors.Is(err, query.ErrTooMany):
		return &hintedError{errors.New(queryText(err)), "make intervals longer, ranges shorter, or group by fewer fields"}
	}
	return err
}

// watch shows in a bar how many of a snapshot's parts have been dealt with, until
// the function that it returns is called.
func (a *app) watch(snap *stream.Snapshot, parts int, records uint64) (end func()) {
	bar := a.progress("records", int64(records), parts > 0)
	if bar == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				done := snap.Stats()
				share := float64(done.SegmentsRead+done.SegmentsSkipped) / float64(parts)
				bar.set(int64(float64(records)*min(share, 1)), int64(records))
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
		bar.end()
	}
}
