//go:build !duckdb

package main

import (
	"fmt"
	"os"
	"time"

	"example.com/ledger/bench/internal/measure"
	"example.com/ledger/bench/internal/report"
)

// A gauge is what the soak looks at once in a while.
type gauge struct {
	name string
	unit report.Unit
}

var gauges = []gauge{
	{"own memory", report.Bytes}, {"resident memory", report.Bytes}, {"Go heap", report.Bytes}, {"maps", report.Count},
	{"descriptors", report.Count}, {"disk", report.Bytes},
}

// growthMax is by how much the last quarter's maximum may exceed the second
// quarter's.
const growthMax = 1.1

// askSoak has writers, readers and retention at work on a stream of each mode in
// one process, and asks whether anything grows.
func askSoak(r *run) (*report.Question, map[string][]report.Chart, error) {
	keep := pick[uint64](r, 300_000, 3_000_000, 3_000_000)
	lasts := pick(r, 4*time.Second, 160*time.Second, 15*time.Minute)
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, nil, err
	}
	r.progress("soaking for %v", lasts)
	o, err := r.measure(spec{Kind: "soak", For: lasts, Records: keep}, lasts+2*time.Minute)
	if err != nil {
		return nil, nil, err
	}
	t := &report.Table{Title: "Growth", Keys: []string{"gauge"}, Metrics: []report.Metric{
		{Name: "max of 2nd quarter", Unit: report.Count}, {Name: "max of last quarter", Unit: report.Count}, {Name: "ratio", Unit: report.Number},
	}}
	charts := []report.Chart{}
	seconds := o.Points["seconds"]
	for _, g := range gauges {
		p := measure.Series(o.Points[g.name])
		n := len(p)
		if n < 8 {
			return nil, nil, fmt.Errorf("only %d samples of %s", n, g.name)
		}
		_, second := p[n/4 : n/2].Range()
		_, last := p[3*n/4:].Range()
		row := t.Row(g.name)
		row.Add(map[string]float64{"max of 2nd quarter": second, "max of last quarter": last, "ratio": last / second})
		if row.Remark = "flat"; last > growthMax*second {
			row.Remark = fmt.Sprintf("GROWS by more than %.1f", growthMax)
		}
		charts = append(charts, report.Chart{Title: g.name, X: "seconds", Unit: g.unit, Lines: []report.Line{{Name: "Ledger", X: seconds, Y: p}}})
	}
	work := &report.Table{Title: "Work done meanwhile", Keys: []string{"what"}, Metrics: []report.Metric{{Name: "in all", Unit: report.Count}, {Name: "a second", Unit: report.Rate}}}
	for _, name := range soakCounts {
		work.Row(name).Add(map[string]float64{"in all": o.Figures[name], "a second": o.Figures[name] / o.Figures["seconds"]})
	}
	q := &report.Question{Tables: []*report.Table{t, work}, Notes: []string{
		fmt.Sprintf("%v of one process with three streams, one of each mode: a writer at %d records/s in batches of %d on Sealed and on Os, 8 goroutines appending single records to Commit as fast as it goes.", lasts, soakRate, soakBatch),
		fmt.Sprintf("On each: a reader that takes snapshots and adds up a column of a random tenth, one that reads single records at random, a tail, and retention that keeps %d records, and a fifteenth of that of Commit; segments have %d.", keep, soakCapacity),
		"Gauges are read four times a second and are the whole process's. Resident memory includes the pages of mapped files, own memory doesn't.",
	}}
	return q, map[string][]report.Chart{"soak": charts}, nil
}
