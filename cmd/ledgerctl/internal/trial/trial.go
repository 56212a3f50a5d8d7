// Package trial measures what appends, shared syncs and scans of a stream do on
// the machine at hand, each beside what the disk or the memory does with nothing
// above it. It is a quick look of seconds: the module in bench measures.
package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"example.com/ledger/query"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// A Result is one measurement.
type Result struct {
	Name    string
	Records float64       // a second
	Bytes   float64       // a second
	Median  time.Duration // of one call
	Floor   string        // what it is set beside
	Beside  float64       // what that does a second, counted as Ratio counts
	Ratio   float64       // what was measured over Beside
}

const (
	callers     = 64       // that share syncs
	batch       = 1024     // records
	scanRecords = 1 << 20  // at least
	writeMax    = 64 << 20 // bytes a file grows to; it is written over then
)

// Run measures for about d each, in a new directory in dir that is gone
// afterwards, and hands on each Result as it is there.
func Run(ctx context.Context, dir string, d time.Duration, each func(Result) error) (err error) {
	tmp, err := os.MkdirTemp(dir, "ledgerctl-bench-")
	if err != nil {
		return err
	}
	defer func() {
		if rerr := os.RemoveAll(tmp); err == nil {
			err = rerr
		}
	}()
	for _, measure := range []func(context.Context, string, time.Duration) (Result, error){single, group, unsynced, scan} {
		r, err := measure(ctx, tmp, d)
		if err == nil {
			err = each(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// calls are the times of calls that were made one after another for a while.
type calls struct {
	times []time.Duration
	took  time.Duration
}

func repeat(ctx context.Context, d time.Duration, f func() error) (calls, error) {
	var c calls
	begin := time.Now()
	for c.took < d || len(c.times) == 0 {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		at := time.Now()
		if err := f(); err != nil {
			return c, err
		}
		end := time.Now()
		c.times, c.took = append(c.times, end.Sub(at)), end.Sub(begin)
	}
	return c, nil
}

func (c calls) perSecond() float64 { return float64(len(c.times)) / c.took.Seconds() }

func (c calls) median() time.Duration {
	slices.Sort(c.times)
	return c.times[len(c.times)/2]
}

func create(dir, name string, mode stream.Durability) (*stream.Stream, error) {
	return stream.Create(filepath.Join(dir, name), stream.Options{Schema: shapes.FillSchema(), Durability: mode})
}

// fills makes n records whose quantities are not all the same.
func fills(n int) []shapes.Fill {
	f := make([]shapes.Fill, n)
	for i := range f {
		f[i] = shapes.Fill{TS: int64(i), Px: 6412350, Qty: int32(i%100 + 1), Sym: uint16(i % 8)}
	}
	return f
}

const width = 40 // of a fill, bytes

// single appends record by record, each on disk before the next.
func single(ctx context.Context, dir string, d time.Duration) (Result, error) {
	return commits(ctx, dir, d, 1)
}

// group appends by many callers at once, who share syncs.
func group(ctx context.Context, dir string, d time.Duration) (Result, error) {
	return commits(ctx, dir, d, callers)
}

// commits appends single records, each on disk when its call returns.
func commits(ctx context.Context, dir string, d time.Duration, callers int) (r Result, err error) {
	syncs, err := syncFloor(ctx, dir, d)
	if err != nil {
		return r, err
	}
	s, err := create(dir, fmt.Sprintf("commits%d", callers), stream.Commit)
	if err != nil {
		return r, err
	}
	defer func() { err = closed(s, err) }()
	t, err := stream.Bind[shapes.Fill](s)
	if err != nil {
		return r, err
	}
	var wg sync.WaitGroup
	all, errs := make([]calls, callers), make([]error, callers)
	for i := range callers {
		wg.Go(func() {
			rec := fills(1)
			all[i], errs[i] = repeat(ctx, d, func() error { _, _, err := t.Append(rec); return err })
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return r, err
	}
	var sum calls
	for _, c := range all {
		sum.times, sum.took = append(sum.times, c.times...), max(sum.took, c.took)
	}
	what := fmt.Sprintf("append, on disk, %d callers", callers)
	if callers == 1 {
		what = "append, on disk, one caller"
	}
	rate := sum.perSecond()
	return Result{what, rate, rate * width, sum.median(), "write and fdatasync of a block", syncs, rate / syncs}, nil
}

// unsynced appends batches to the page cache.
func unsynced(ctx context.Context, dir string, d time.Duration) (r Result, err error) {
	floor, err := writeFloor(ctx, dir, d, batch*width)
	if err != nil {
		return r, err
	}
	s, err := create(dir, "unsynced", stream.Os)
	if err != nil {
		return r, err
	}
	defer func() { err = closed(s, err) }()
	t, err := stream.Bind[shapes.Fill](s)
	if err != nil {
		return r, err
	}
	recs := fills(batch)
	c, err := repeat(ctx, d, func() error { _, _, err := t.Append(recs); return err })
	if err != nil {
		return r, err
	}
	rate := c.perSecond() * batch
	return Result{fmt.Sprintf("append, page cache, batches of %d", batch), rate, rate * width, c.median(), "write of the same bytes", floor, rate * width / floor}, nil
}

// scan sums a column of sealed segments, again and again.
func scan(ctx context.Context, dir string, d time.Duration) (r Result, err error) {
	s, err := create(dir, "scan", stream.Os)
	if err != nil {
		return r, err
	}
	defer func() { err = closed(s, err) }()
	t, err := stream.Bind[shapes.Fill](s)
	if err != nil {
		return r, err
	}
	recs := fills(1 << 14)
	for n := 0; n < scanRecords && err == nil; n += len(recs) {
		_, _, err = t.Append(recs)
	}
	if err == nil {
		err = s.Seal()
	}
	if err != nil {
		return r, err
	}
	v, err := s.Snapshot()
	if err != nil {
		return r, err
	}
	defer v.Close()
	c, err := repeat(ctx, d, func() error {
		_, err := query.From(v).Workers(1).Run(ctx, query.Sum("qty"))
		return err
	})
	if err != nil {
		return r, err
	}
	floor, err := memoryFloor(ctx, d)
	if err != nil {
		return r, err
	}
	rate := c.perSecond() * float64(v.End()-v.First())
	return Result{"scan, sum of a column, one core", rate, rate * 4, c.median(), "search through as many bytes in memory", floor, rate * 4 / floor}, nil
}

func closed(s *stream.Stream, err error) error {
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return err
}
