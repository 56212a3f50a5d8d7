//go:build !duckdb

package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"example.com/ledger/bench/internal/engine"
	"example.com/ledger/bench/internal/measure"
	"example.com/ledger/bench/internal/report"
	"example.com/ledger/bench/internal/source"
)

func init() { cells["latency"] = latencyCell }

// jitter is the row of a loop that appends nothing.
const jitter = "floor: the machine's own jitter"

// A latencyJob is a kind at a rate.
type latencyJob struct {
	name string
	sync bool
	rate float64
}

// askLatency appends single records at fixed rates. An append that should have
// begun at t and ended at u took u-t, whenever it really began: what waits behind
// a slow append is slow as well.
func askLatency(r *run) (*report.Question, map[string][]report.Chart, error) {
	// With sync there are fewer appends in a second, and as many are needed.
	lasts := map[bool]time.Duration{
		false: pick(r, 30*time.Millisecond, 2*time.Second, 20*time.Second),
		true:  pick(r, 30*time.Millisecond, 5*time.Second, 30*time.Second),
	}
	metrics := []report.Metric{{Name: "achieved", Unit: report.Rate}}
	for _, p := range measure.Percentiles {
		metrics = append(metrics, report.Metric{Name: p.Name, Unit: report.Nanos})
	}
	noSync := &report.Table{Title: "Single appends without sync", Keys: []string{"rate", "engine"}, Metrics: metrics}
	withSync := &report.Table{Title: "Single appends with sync", Keys: []string{"rate", "engine"}, Metrics: metrics}
	tables := map[bool]*report.Table{false: noSync, true: withSync}

	jobs := latencyJobs(r)
	rows := make([]*report.Row, len(jobs))
	for i, j := range jobs {
		rows[i] = tables[j.sync].Row(report.Format(j.rate, report.Rate), j.name)
		rows[i].Floor = j.name == jitter || j.name == engine.FloorStore || j.name == engine.FloorFdatasync
	}
	err := r.rounds(pick(r, 1, 3, 5), len(jobs), .75, func(round, i int) {
		j := jobs[i]
		if rows[i].Remark != "" && len(rows[i].Figures) == 0 {
			return
		}
		o, err := r.measure(spec{Kind: "latency", Engine: j.name, Sync: j.sync, Rate: j.rate, For: lasts[j.sync]}, 30*time.Second+4*lasts[j.sync])
		if err != nil {
			rows[i].Remark = r.remark(err)
			r.progress("round %d  %-32s sync=%-5v %s", round+1, j.name, j.sync, rows[i].Remark)
			return
		}
		if o.Figures["achieved"] < 0.99*j.rate {
			rows[i].Remark = "can't keep up"
		}
		rows[i].Add(o.Figures)
		r.progress("round %d  %-32s sync=%-5v at %-8s p50 %10s  p99.9 %10s", round+1, j.name, j.sync, report.Format(j.rate, report.Rate),
			report.Format(o.Figures["p50"], report.Nanos), report.Format(o.Figures["p99.9"], report.Nanos))
	})
	if err != nil {
		return nil, nil, err
	}
	tail, err := askTail(r)
	if err != nil {
		return nil, nil, err
	}
	q := &report.Question{Tables: []*report.Table{noSync, withSync, tail}, Notes: []string{
		fmt.Sprintf("A measurement lasts %v, with sync %v. Latency counts from the time at which the append was due, so that nothing is omitted; rolls and seals are included.", lasts[false], lasts[true]),
		"Two reads of the clock are part of each figure, and of the jitter's: the same loop with no append in it. A percentile with fewer than five samples above it is left out.",
		"A follower in the same process is woken, one in another process looks at the cursors page every 50 µs; both are beside a writer that spins.",
	}}
	var charts []report.Chart
	for _, t := range q.Tables {
		var rates []string
		for _, row := range t.Rows {
			if !slices.Contains(rates, row.Keys[0]) {
				rates = append(rates, row.Keys[0])
			}
		}
		for _, rate := range rates {
			charts = append(charts, latencyChart(t, rate))
		}
	}
	return q, map[string][]report.Chart{"latency": charts}, nil
}

func latencyJobs(r *run) (jobs []latencyJob) {
	add := func(sync bool, rate float64, names ...string) {
		for _, n := range names {
			if r.wanted(n) {
				jobs = append(jobs, latencyJob{n, sync, rate})
			}
		}
	}
	add(false, 1e6, jitter, engine.FloorStore, "Ledger sealed", "Ledger os", "tidwall/wal")
	add(false, 1e5, jitter, engine.FloorStore, "Ledger sealed", "Ledger os", "tidwall/wal", "pebble", "etcd wal")
	add(true, 1e3, jitter, engine.FloorFdatasync, "Ledger commit", "tidwall/wal", "pebble", "etcd wal", "raft-wal")
	if r.flags.full {
		add(false, 1e4, jitter, "Ledger sealed", "Ledger os", "tidwall/wal", "pebble", "etcd wal", "bbolt", "SQLite", "NATS JetStream")
		add(true, 1e3, "bbolt", "SQLite", "NATS JetStream")
		add(true, 3e3, jitter, engine.FloorFdatasync, "Ledger commit", "tidwall/wal", "pebble", "etcd wal", "raft-wal")
	}
	return jobs
}

// latencyChart draws percentiles over the part of appends that are slower.
func latencyChart(t *report.Table, rate string) report.Chart {
	c := report.Chart{Title: t.Title + ", " + rate, X: "percentile", Y: "latency", LogY: true, Unit: report.Nanos}
	for _, p := range measure.Percentiles {
		c.Labels = append(c.Labels, p.Name)
	}
	for _, row := range t.Rows {
		if row.Keys[0] != rate {
			continue
		}
		l := report.Line{Name: row.Keys[1], Dashed: row.Floor}
		for i, p := range measure.Percentiles {
			if s := row.Figures[p.Name]; len(s) > 0 && !math.IsNaN(s.Median()) {
				l.X, l.Y = append(l.X, float64(i)), append(l.Y, s.Median())
			}
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

type idle struct{}

func (idle) Append([]byte) error { return nil }
func (idle) Close() error        { return nil }

// latencyCell appends at s.Rate for s.For, or half as long again where it falls
// behind.
func latencyCell(s spec) (outcome, error) {
	var e engine.Engine = idle{}
	if s.Engine != jitter {
		k, err := engine.ByName(s.Engine)
		if err != nil {
			return outcome{}, err
		}
		if e, err = k.Open(s.Dir, engine.Options{Sync: s.Sync, Goroutines: 1, Batch: 1}); err != nil {
			return outcome{}, err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ring := source.NewRing(1)
	if _, err := appendAt(e, ring, s.Rate, s.For/10, nil); err != nil { // to warm up
		return outcome{}, err
	}
	runtime.GC()
	h := measure.NewHist()
	begun := time.Now()
	n, err := appendAt(e, ring, s.Rate, s.For, h)
	if err != nil {
		return outcome{}, err
	}
	m := map[string]float64{"achieved": float64(n) / time.Since(begun).Seconds()}
	h.Into(m)
	return outcome{Figures: m}, e.Close()
}

// appendAt waits for each record's time without sleeping, which would add the
// scheduler's delay to what is measured.
func appendAt(e engine.Engine, ring *source.Ring, rate float64, d time.Duration, h *measure.Hist) (int, error) {
	total := int(rate * d.Seconds())
	gap := 1e9 / rate
	give := d + d/2
	begun := time.Now()
	for i := range total {
		due := time.Duration(float64(i) * gap)
		rec := ring.Next(1)
		now := time.Since(begun)
		for now < due {
			now = time.Since(begun)
		}
		if err := e.Append(rec); err != nil {
			return i, err
		}
		end := time.Since(begun)
		if h != nil {
			h.Add(end - due)
		}
		if end > give {
			return i + 1, nil
		}
	}
	if rest := d - time.Since(begun); rest > 0 {
		time.Sleep(rest) // the last one's turn ends with the whole
	}
	return total, nil
}
