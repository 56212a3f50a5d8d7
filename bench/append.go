//go:build !duckdb

package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ledger/bench/internal/engine"
	"example.com/ledger/bench/internal/measure"
	"example.com/ledger/bench/internal/report"
	"example.com/ledger/bench/internal/source"
)

func init() { cells["append"] = appendCell }

// An appendJob is one cell of the two tables.
type appendJob struct {
	kind              engine.Kind
	sync              bool
	goroutines, batch int
}

// askAppend measures throughput. The default leaves out large batches from many
// goroutines.
func askAppend(r *run) (*report.Question, map[string][]report.Chart, error) {
	metrics := []report.Metric{{Name: "records/s", Unit: report.Rate}, {Name: "per record", Unit: report.Nanos}, {Name: "allocs/call", Unit: report.Number}}
	noSync := &report.Table{Title: "Append without sync", Keys: []string{"goroutines", "batch", "engine"}, Metrics: metrics}
	withSync := &report.Table{Title: "Append with sync: a batch is on disk when the call returns", Keys: noSync.Keys,
		Metrics: append(slices.Clone(metrics), report.Metric{Name: "p50 of a call", Unit: report.Nanos}, report.Metric{Name: "p99 of a call", Unit: report.Nanos})}
	table := map[bool]*report.Table{false: noSync, true: withSync}

	var jobs []appendJob
	for _, shape := range appendShapes(r) {
		for _, sync := range []bool{false, true} {
			for _, k := range r.kinds() {
				if sync && k.Sync || !sync && k.NoSync {
					jobs = append(jobs, appendJob{k, sync, shape[0], shape[1]})
				}
			}
		}
	}
	rows := make([]*report.Row, len(jobs))
	for i, j := range jobs { // all rows, in order, before the first is filled
		rows[i] = table[j.sync].Row(fmt.Sprint(j.goroutines), fmt.Sprint(j.batch), j.kind.Name)
		rows[i].Floor = j.kind.Floor
	}
	lasts := pick(r, 20*time.Millisecond, 250*time.Millisecond, 2*time.Second)
	most := pick[uint64](r, 200_000, 16<<20, 64<<20)
	err := r.rounds(pick(r, 1, 3, 5), len(jobs), 1, func(round, i int) {
		j := jobs[i]
		if rows[i].Remark != "" {
			return // it failed before
		}
		o, err := r.measure(spec{Kind: "append", Engine: j.kind.Name, Sync: j.sync, Batch: j.batch, Goroutines: j.goroutines, For: lasts, Records: most}, 30*time.Second+5*lasts)
		if err != nil {
			rows[i].Remark = r.remark(err)
			r.progress("round %d  %-28s sync=%-5v goroutines=%-2d batch=%-4d %s", round+1, j.kind.Name, j.sync, j.goroutines, j.batch, rows[i].Remark)
			return
		}
		rows[i].Add(o.Figures)
		r.progress("round %d  %-28s sync=%-5v goroutines=%-2d batch=%-4d %10s a record", round+1, j.kind.Name, j.sync, j.goroutines, j.batch,
			report.Format(o.Figures["per record"], report.Nanos))
	})
	if err != nil {
		return nil, nil, err
	}
	q := &report.Question{Tables: []*report.Table{noSync, withSync, appendRatios(noSync, withSync)}, Notes: []string{
		"Every figure includes making the record (the first floor). Ledger rolls and seals meanwhile, at its default of 65,536 records a segment.",
		fmt.Sprintf("A measurement lasts %v or %d records. Many goroutines share one engine; engines that want their batches in order have a lock before them.", lasts, most),
		"Floors that sync have callers share one fdatasync, one at a time.",
	}}
	return q, map[string][]report.Chart{"append": {
		appendChart(noSync, "Without sync, one goroutine", "batch, records", "1", ""), appendChart(noSync, "Without sync, batch 1", "goroutines", "", "1"),
		appendChart(withSync, "With sync, one goroutine", "batch, records", "1", ""), appendChart(withSync, "With sync, batch 1", "goroutines", "", "1"),
	}}, nil
}

// kinds are the engines that are wanted, in order.
func (r *run) kinds() []engine.Kind {
	return slices.DeleteFunc(engine.Kinds(), func(k engine.Kind) bool { return !r.wanted(k.Name) })
}

// appendRatios sets Ledger against floors and peers, round by round.
func appendRatios(noSync, withSync *report.Table) *report.Table {
	t := &report.Table{Title: "Ledger against others, round by round", Keys: []string{"what", "goroutines", "batch"},
		Metrics: []report.Metric{{Name: "times as many records/s", Unit: report.Number}, {Name: "times their p50", Unit: report.Number}}}
	for _, c := range []struct {
		in           *report.Table
		ours, theirs string
	}{
		{noSync, "Ledger sealed", engine.FloorStoreCRC}, {noSync, "Ledger sealed", "tidwall/wal"}, {noSync, "Ledger sealed", "pebble"},
		{noSync, "Ledger os", "tidwall/wal"},
		{noSync, "Ledger sealed", engine.FloorFilesSynced}, {noSync, "Ledger os", engine.FloorFiles},
		{withSync, "Ledger commit", engine.FloorFdatasync}, {withSync, "Ledger commit", "tidwall/wal"}, {withSync, "Ledger commit", "pebble"},
		{withSync, "Ledger commit", "raft-wal"}, {withSync, "Ledger commit", "etcd wal"},
	} {
		for _, row := range c.in.Rows {
			ours := c.in.Find(row.Keys[0], row.Keys[1], c.ours)
			if row.Keys[2] != c.theirs || ours == nil {
				continue
			}
			out := t.Row(c.ours+" : "+c.theirs, row.Keys[0], row.Keys[1])
			for to, of := range map[string]string{"times as many records/s": "records/s", "times their p50": "p50 of a call"} {
				if s := measure.Ratios(ours.Figures[of], row.Figures[of]); len(s) > 0 {
					out.Figures[to] = s
				}
			}
		}
	}
	return t
}

// appendShapes are the pairs of goroutines and batch.
func appendShapes(r *run) [][2]int {
	out := [][2]int{{1, 1}, {1, 16}, {1, 256}, {1, 4096}, {8, 1}, {64, 1}}
	if r.flags.full {
		for _, g := range []int{8, 64} {
			for _, b := range []int{16, 256, 4096} {
				out = append(out, [2]int{g, b})
			}
		}
	}
	return out
}

// appendChart draws records a second over one of the two keys, the other being
// held.
func appendChart(t *report.Table, title, x, goroutines, batch string) report.Chart {
	c := report.Chart{Title: title, X: x, Y: "records a second", LogX: true, LogY: true, Unit: report.Count}
	for _, row := range t.Rows {
		at := row.Keys[1]
		if goroutines == "" {
			at = row.Keys[0]
		}
		if goroutines != "" && row.Keys[0] != goroutines || batch != "" && row.Keys[1] != batch || len(row.Figures["records/s"]) == 0 {
			continue
		}
		i := slices.IndexFunc(c.Lines, func(l report.Line) bool { return l.Name == row.Keys[2] })
		if i < 0 {
			i = len(c.Lines)
			c.Lines = append(c.Lines, report.Line{Name: row.Keys[2], Dashed: row.Floor})
		}
		var v float64
		fmt.Sscan(at, &v)
		c.Lines[i].X = append(c.Lines[i].X, v)
		c.Lines[i].Y = append(c.Lines[i].Y, row.Figures["records/s"].Median())
	}
	return c
}

// appendCell appends for a while from a number of goroutines. With sync each
// call is timed; without, the clock would cost as much as the call, and only the
// whole is.
func appendCell(s spec) (outcome, error) {
	k, err := engine.ByName(s.Engine)
	if err != nil {
		return outcome{}, err
	}
	e, err := k.Open(s.Dir, engine.Options{Sync: s.Sync, Goroutines: s.Goroutines, Batch: s.Batch})
	if err != nil {
		return outcome{}, err
	}
	rings := make([]*source.Ring, s.Goroutines)
	for i := range rings {
		rings[i] = source.NewRing(s.Batch)
	}
	// A tenth of the time to warm up, untimed.
	if _, _, err := appendFor(e, s, rings, s.For/10, s.Records/10, nil); err != nil {
		return outcome{}, err
	}
	var hists []*measure.Hist
	if s.Sync {
		for range rings {
			hists = append(hists, measure.NewHist())
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	calls, last, err := appendFor(e, s, rings, s.For, s.Records, hists)
	took := last.Sub(begun)
	runtime.ReadMemStats(&after)
	if err != nil {
		return outcome{}, err
	}
	if err := e.Close(); err != nil {
		return outcome{}, err
	}
	records := float64(calls) * float64(s.Batch)
	m := map[string]float64{
		"records/s": records / took.Seconds(), "per record": float64(took) / records,
		"allocs/call": float64(after.Mallocs-before.Mallocs) / float64(calls),
	}
	if s.Sync {
		for _, h := range hists[1:] {
			hists[0].Merge(h)
		}
		if v, ok := hists[0].Quantile(.5); ok {
			m["p50 of a call"] = v
		}
		if v, ok := hists[0].Quantile(.99); ok {
			m["p99 of a call"] = v
		}
	}
	return outcome{Figures: m}, nil
}

// appendFor returns how many batches went in, and when the last one had.
func appendFor(e engine.Engine, s spec, rings []*source.Ring, d time.Duration, records uint64, hists []*measure.Hist) (uint64, time.Time, error) {
	every := uint64(1) // look at the clock once for so many calls
	if !s.Sync {
		every = uint64(max(1, 64/s.Batch))
	}
	most := max(1, records/uint64(s.Batch)/uint64(len(rings)))
	var calls atomic.Uint64
	var wg sync.WaitGroup
	errs := make([]error, len(rings))
	begun := time.Now()
	for g, ring := range rings {
		wg.Go(func() {
			n := uint64(0)
			defer func() { calls.Add(n) }()
			if hists != nil {
				for t := time.Now(); n < most && t.Sub(begun) < d; n++ {
					b := ring.Next(s.Batch)
					if errs[g] = e.Append(b); errs[g] != nil {
						return
					}
					u := time.Now()
					hists[g].Add(u.Sub(t))
					t = u
				}
				return
			}
			for ; n < most && (n%every != 0 || time.Since(begun) < d); n++ {
				if errs[g] = e.Append(ring.Next(s.Batch)); errs[g] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	last := time.Now()
	for _, err := range errs {
		if err != nil {
			return 0, last, err
		}
	}
	return calls.Load(), last, nil
}
