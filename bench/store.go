//go:build !duckdb

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/ledger/bench/internal/engine"
	"example.com/ledger/bench/internal/report"
)

// storeBatch is how many records a batch has when a store is built.
const storeBatch = 4096

// A storeJob is one engine with a store that is kept for all rounds.
type storeJob struct {
	kind   engine.Kind
	dir    string
	used   int64 // bytes of disk behind the last build
	failed bool
}

// askStore builds each engine's store of 5 million records, asks it all there is
// to ask, and builds on to 10 million.
func askStore(r *run) (*report.Question, map[string][]report.Chart, error) {
	half := pick[uint64](r, 100_000, 5_000_000, 5_000_000)
	full := 2 * half
	read := &report.Table{Title: fmt.Sprintf("Store of %s records", report.Format(float64(half), report.Count)), Keys: []string{"engine"}, Metrics: []report.Metric{
		{Name: "build, a record", Unit: report.Nanos}, {Name: "bytes a record", Unit: report.Number}, {Name: "a further one", Unit: report.Number},
		{Name: "random read", Unit: report.Nanos}, {Name: "read p50", Unit: report.Nanos}, {Name: "read p99", Unit: report.Nanos},
		{Name: "full scan, a record", Unit: report.Nanos}, {Name: "one field, a record", Unit: report.Nanos}, {Name: "time range of 10,000", Unit: report.Nanos},
	}}
	open := &report.Table{Title: "Open, and drop the oldest half", Keys: []string{"engine"}, Metrics: []report.Metric{
		{Name: "open " + short(half), Unit: report.Nanos}, {Name: "open " + short(full), Unit: report.Nanos}, {Name: "open after kill", Unit: report.Nanos},
		{Name: "drop half", Unit: report.Nanos}, {Name: "bytes before", Unit: report.Bytes}, {Name: "bytes after", Unit: report.Bytes},
	}}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, nil, err
	}
	read.Row(storeFloor).Floor, open.Row(storeFloor).Floor = true, true
	jobs := storeJobs(r)
	limit := pick(r, 20*time.Second, 60*time.Second, 20*time.Minute)
	fail := func(j *storeJob, t *report.Table, err error) {
		j.failed = true
		t.Row(j.kind.Name).Remark = r.remark(err)
		r.progress("%-16s %v", j.kind.Name, r.remark(err))
	}
	build := func(j *storeJob, records uint64) bool {
		o, err := r.measure(spec{Kind: "build", Engine: j.kind.Name, Dir: j.dir, Sync: !j.kind.NoSync, Records: records}, limit)
		if err != nil {
			fail(j, read, err)
			return false
		}
		r.settle()
		row, used := read.Row(j.kind.Name), diskUse(j.dir)
		if records == half {
			row.Add(o.Figures)
			row.Add(map[string]float64{"bytes a record": float64(used) / float64(half)})
		} else {
			row.Add(map[string]float64{"a further one": float64(used-j.used) / float64(records-half)})
		}
		j.used = used
		r.progress("%-16s built %s records, %s each", j.kind.Name, short(records), report.Format(o.Figures["build, a record"], report.Nanos))
		return true
	}
	step := func(j *storeJob, t *report.Table, kind, as string, records uint64, dir string) {
		if j.failed {
			return
		}
		o, err := r.measure(spec{Kind: kind, Engine: j.kind.Name, Dir: dir, Sync: !j.kind.NoSync, Records: records, For: pick(r, 10*time.Millisecond, 300*time.Millisecond, time.Second)}, limit)
		if err != nil {
			fail(j, t, fmt.Errorf("%s: %w", kind, err))
			return
		}
		if as != "" {
			o.Figures = map[string]float64{as: o.Figures["open"]}
		}
		t.Row(j.kind.Name).Add(o.Figures)
	}
	for i := range jobs {
		if build(&jobs[i], half); r.ctx.Err() != nil {
			return nil, nil, r.ctx.Err()
		}
	}
	machine := func(records uint64) {
		o, err := r.measure(spec{Kind: "store floor", Records: records, For: pick(r, 10*time.Millisecond, 300*time.Millisecond, time.Second)}, limit)
		if err != nil {
			r.progress("%-16s %v", storeFloor, r.remark(err))
			return
		}
		open.Row(storeFloor).Add(map[string]float64{"open " + short(records): o.Figures["open"]})
		if records == half {
			read.Row(storeFloor).Add(map[string]float64{"random read": o.Figures["random read"]})
			open.Row(storeFloor).Add(map[string]float64{"drop half": o.Figures["drop half"]})
		}
	}
	rounds := pick(r, 1, 3, 5)
	last := -1 // the round that the machine was measured in
	err := r.rounds(rounds, len(jobs), .6, func(round, i int) {
		if last != round {
			last = round
			machine(half)
		}
		j := &jobs[i]
		step(j, open, "open", "open "+short(half), half, j.dir)
		step(j, read, "read", "", half, j.dir)
		if _, drops := storeAbilities(j.kind.Name); drops && !j.failed {
			dir := j.dir + "-copy"
			if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(j.dir))); err != nil {
				fail(j, open, err)
				return
			}
			r.settle()
			before := diskUse(dir)
			step(j, open, "drop", "", half, dir)
			if !j.failed {
				open.Row(j.kind.Name).Add(map[string]float64{"bytes before": float64(before), "bytes after": float64(diskUse(dir))})
			}
			os.RemoveAll(dir)
		}
		r.progress("round %d  %-16s opened, read, dropped", round+1, j.kind.Name)
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range jobs {
		if !jobs[i].failed {
			build(&jobs[i], full)
		}
	}
	last = -1
	err = r.rounds(rounds, len(jobs), 1, func(round, i int) {
		if last != round {
			last = round
			machine(full)
		}
		j := &jobs[i]
		step(j, open, "open", "open "+short(full), full, j.dir)
		if j.failed {
			return
		}
		// More is appended, half a segment, and the process killed: what the next
		// open has to do then.
		o, err := r.measure(spec{Kind: "kill", Engine: j.kind.Name, Dir: j.dir, Sync: !j.kind.NoSync, Records: full}, limit)
		if o.Error != "" || err != nil && err.Error() != "signal: killed" {
			fail(j, open, err)
			return
		}
		r.failed-- // it was to be killed
		step(j, open, "open", "open after kill", 0, j.dir)
		r.progress("round %d  %-16s opened with %s records", round+1, j.kind.Name, short(full))
	})
	if err != nil {
		return nil, nil, err
	}
	q := &report.Question{Tables: []*report.Table{read, open}, Notes: []string{
		fmt.Sprintf("Stores are built in batches of %d without sync (raft-wal always syncs), and closed. Bytes are blocks of the file system, journals included; a further one is what the second half of 10 million adds.", storeBatch),
		"The page cache is warm. Open ends when the last record has been read, where the engine can be read by number.",
		"A full scan visits every record's 40 bytes, and adds up a field: all engines must agree. One field reads no more than it must (Ledger's columns).",
		"A time range is looked up by Ledger itself, and by bisection over the numbers for the others.",
		"tidwall/wal may keep 64 segments in memory, and gives records without a copy. etcd's wal can only be read as a whole, when it is opened.",
		"The floor is files as Ledger's would be, and no database: it reads the first 64 bytes of each, loads one value of each column of records at random from their mappings, and unlinks half of them.",
		"Each round drops in a copy. Ledger drops whole segments. The process before 'open after kill' appended 32,768 records one by one and was killed.",
	}}
	return q, map[string][]report.Chart{"store": {
		bars(read, "Random read by number", "random read", report.Nanos), bars(read, "Full scan, a record", "full scan, a record", report.Nanos),
		bars(open, "Open "+short(full)+" records", "open "+short(full), report.Nanos), bars(open, "Drop the oldest half", "drop half", report.Nanos),
		bars(read, "Time range of 10,000 records", "time range of 10,000", report.Nanos), bars(read, "Bytes a record", "bytes a record", report.Number),
	}}, nil
}

// storeJobs are the engines that keep records. NATS takes minutes to build, and
// raft-wal to read.
func storeJobs(r *run) (jobs []storeJob) {
	for _, k := range r.kinds() {
		slow := k.Name == "NATS JetStream" || k.Name == "raft-wal"
		if k.Floor || slow && !r.flags.full || k.Name == "Ledger commit" || k.Name == "Ledger os" {
			continue
		}
		jobs = append(jobs, storeJob{kind: k, dir: filepath.Join(r.dir, fmt.Sprintf("store%d", len(jobs)))})
	}
	return jobs
}

// storeAbilities says what an engine can do, without opening it.
func storeAbilities(name string) (reads, drops bool) {
	return name != "etcd wal", name != "etcd wal"
}
