package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"example.com/ledger/bench/internal/ask"
	"example.com/ledger/bench/internal/measure"
	"example.com/ledger/bench/internal/report"
	"example.com/ledger/bench/internal/simd"
)

func init() {
	cells["query-load"] = queryLoadCell
	cells["query-truth"] = queryTruthCell
	cells["query"] = queryCell
}

// A queryJob is an engine with a number of threads.
type queryJob struct {
	kind    ask.Kind
	threads int
	row     *report.Row
}

// askQuery loads the records into each engine, and has all questions answered in
// turns; every answer is compared with one that was added up record by record.
func askQuery(r *run) (*report.Question, map[string][]report.Chart, error) {
	n := pick[uint64](r, 200_000, 10_000_000, 10_000_000)
	times := &report.Table{Title: fmt.Sprintf("Time of a query over %s fills", short(n)), Keys: []string{"threads", "engine"}}
	rates := &report.Table{Title: "Records a second", Keys: times.Keys}
	all := slices.Sorted(slices.Values(ask.Names))
	for _, q := range all {
		times.Metrics = append(times.Metrics, report.Metric{Name: q, Unit: report.Nanos})
		if q != "Q7" {
			rates.Metrics = append(rates.Metrics, report.Metric{Name: q, Unit: report.Rate})
		}
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, nil, err
	}
	o, err := r.measure(spec{Kind: "query-truth", Dir: r.dir, Records: n}, 10*time.Minute)
	if err != nil {
		return nil, nil, err
	}
	var truth map[string]string
	if err := json.Unmarshal([]byte(o.Text), &truth); err != nil {
		return nil, nil, err
	}
	bytes := &report.Table{Title: "Data", Keys: []string{"engine"}, Metrics: []report.Metric{{Name: "load, a record", Unit: report.Nanos}, {Name: "bytes a record", Unit: report.Number}}}
	bad := map[string]string{}
	load := func(k ask.Kind) {
		dir := filepath.Join(r.dir, k.Name)
		o, err := r.measure(spec{Kind: "query-load", Engine: k.Name, Dir: dir, Records: n}, pick(r, time.Minute, 2*time.Minute, 20*time.Minute))
		if err != nil {
			bad[k.Name] = "loading: " + r.remark(err)
			bytes.Row(k.Name).Remark = bad[k.Name]
			r.progress("%-34s %s", k.Name, bad[k.Name])
			return
		}
		bytes.Row(k.Name).Add(o.Figures)
		for _, of := range ask.Kinds() {
			if of.Name == k.Name || of.Needs == k.Name && of.File != "" {
				bytes.Row(of.Name).Add(map[string]float64{"bytes a record": float64(diskUse(filepath.Join(dir, of.File))) / float64(n)})
			}
		}
		r.progress("%-34s loaded, %s a record", k.Name, report.Format(o.Figures["load, a record"], report.Nanos))
	}
	fast, slow := queryJobs(r, times)
	for _, k := range ask.Kinds() {
		if k.Load != nil && !k.Slow && (r.wanted(k.Name) || k.Name == "Ledger") {
			load(k)
		}
	}
	err = r.rounds(pick(r, 1, 5, 7), len(fast), .8, func(round, i int) { r.query(fast[i], round, n, bad, truth) })
	if err != nil {
		return nil, nil, err
	}
	for _, j := range slow { // loaded and asked last, so that the others have their rounds
		if j.kind.Tedious && !r.flags.full && !r.flags.tiny {
			j.row.Remark = "takes minutes to load: -tags duckdb, or --full"
			continue
		}
		load(j.kind)
		for round := range pick(r, 1, 1, 3) {
			r.query(j, round, n, bad, truth)
		}
	}
	if r.ctx.Err() != nil {
		return nil, nil, r.ctx.Err()
	}
	for _, row := range times.Rows {
		out := rates.Row(row.Keys...)
		out.Floor, out.Remark = row.Floor, row.Remark
		for _, m := range rates.Metrics {
			for _, v := range row.Figures[m.Name] {
				out.Figures[m.Name] = append(out.Figures[m.Name], float64(n)/v*1e9)
			}
		}
	}
	q := &report.Question{Tables: []*report.Table{times, rates, queryRatios(times), bytes}, Notes: []string{
		"Q1 notional and volume of all · Q2 of one symbol · Q3 of the bought in a range of prices · Q4 by symbol (64) · Q5 one-minute candles by symbol · Q6 count of one taker's · Q7 notional and volume of one minute (60,000 records).",
		"Page cache warm; each engine is asked once before it is timed, and the last-level cache is emptied before each timing by adding up 192 MB. A round's figure is the median of its repetitions; SQLite, whose Q4 and Q5 take seconds, is asked only once.",
		"All answers are whole numbers and were compared with those of a plain loop over the records. The floor adds up the same columns, sym, side and ts included, with " + map[bool]string{true: "AVX2", false: "plain Go"}[simd.Wide] + ".",
		"Arrow compute runs over Ledger's own mapped columns, without a copy; it has no grouping. A dash is a question that the engine can't answer, or had no time for.",
	}}
	if !slices.ContainsFunc(ask.Kinds(), func(k ask.Kind) bool { return k.Name == "DuckDB table" }) {
		q.Notes = append(q.Notes, "Built without DuckDB: -tags duckdb has it, and SQLite in C.")
	}
	return q, map[string][]report.Chart{"query": queryCharts(rates, times)}, nil
}

// queryRatios says how many times as fast Ledger is.
func queryRatios(times *report.Table) *report.Table {
	t := &report.Table{Title: "How many times as fast Ledger is, round by round", Keys: []string{"threads", "as"}}
	for _, m := range times.Metrics {
		t.Metrics = append(t.Metrics, report.Metric{Name: m.Name, Unit: report.Number})
	}
	for _, row := range times.Rows {
		ours := times.Find(row.Keys[0], "Ledger")
		if row.Keys[1] == "Ledger" || ours == nil {
			continue
		}
		out := t.Row(row.Keys...)
		for _, m := range t.Metrics {
			if s := measure.Ratios(row.Figures[m.Name], ours.Figures[m.Name]); len(s) > 0 {
				out.Figures[m.Name] = s
			}
		}
	}
	return t
}

// queryJobs are the engines that are asked in turns, and those that are slow.
func queryJobs(r *run, t *report.Table) (fast, slow []queryJob) {
	for _, threads := range []int{1, 2} {
		for _, k := range ask.Kinds() {
			if !r.wanted(k.Name) || k.Single && threads > 1 || threads > runtime.NumCPU() {
				continue
			}
			j := queryJob{kind: k, threads: threads, row: t.Row(fmt.Sprint(threads), k.Name)}
			j.row.Floor = k.Floor
			if k.Slow {
				slow = append(slow, j)
			} else {
				fast = append(fast, j)
			}
		}
	}
	return fast, slow
}

// query asks an engine everything, and compares what it says.
func (r *run) query(j queryJob, round int, n uint64, bad, truth map[string]string) {
	home := j.kind.Name
	if j.kind.Needs != "" {
		home = j.kind.Needs
	}
	if j.row.Remark == "" {
		j.row.Remark = bad[home]
	}
	if j.row.Remark != "" {
		return
	}
	repeat := pick(r, 1.0, 3, 5)
	if j.kind.Slow {
		repeat = 0
	}
	o, err := r.measure(spec{Kind: "query", Engine: j.kind.Name, Dir: filepath.Join(r.dir, home), Records: n, Goroutines: j.threads,
		For: pick(r, 10*time.Second, 60*time.Second, 10*time.Minute), Extra: map[string]float64{"repeat": repeat}}, pick(r, time.Minute, 2*time.Minute, 20*time.Minute))
	var answers map[string]string
	if err == nil {
		err = json.Unmarshal([]byte(o.Text), &answers)
	}
	if err != nil {
		j.row.Remark = r.remark(err)
		r.progress("%-34s %s", j.kind.Name, j.row.Remark)
		return
	}
	for q, got := range answers {
		if !j.kind.Floor && got != truth[q] {
			j.row.Remark = fmt.Sprintf("WRONG %s: %s, not %s", q, got, truth[q])
			r.failed++
		}
	}
	j.row.Add(o.Figures)
	r.progress("round %d  %-34s threads=%d  Q1 %s", round+1, j.kind.Name, j.threads, report.Format(o.Figures["Q1"], report.Nanos))
}

// queryCharts draw records a second for each question, and the time of Q7.
func queryCharts(rates, times *report.Table) (out []report.Chart) {
	for _, threads := range []string{"1", "2"} {
		c := report.Chart{Title: "Threads: " + threads, Y: "records a second", LogY: true, Unit: report.Count}
		for _, m := range rates.Metrics {
			c.Labels = append(c.Labels, m.Name)
		}
		for _, row := range rates.Rows {
			if row.Keys[0] != threads {
				continue
			}
			l := report.Line{Name: row.Keys[1], Dashed: row.Floor}
			for i, m := range rates.Metrics {
				if s := row.Figures[m.Name]; len(s) > 0 {
					l.X, l.Y = append(l.X, float64(i)), append(l.Y, s.Median())
				}
			}
			c.Lines = append(c.Lines, l)
		}
		if len(c.Lines) > 0 {
			out = append(out, c)
		}
	}
	return append(out, bars(times, "Q7: time of one minute's", "Q7", report.Nanos))
}

func queryLoadCell(s spec) (outcome, error) {
	k, err := ask.ByName(s.Engine)
	if err != nil {
		return outcome{}, err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return outcome{}, err
	}
	t := time.Now()
	if err := k.Load(s.Dir, s.Records); err != nil {
		return outcome{}, err
	}
	return outcome{Figures: map[string]float64{"load, a record": float64(time.Since(t)) / float64(s.Records)}}, nil
}

func queryTruthCell(s spec) (outcome, error) {
	m, err := ask.Truth(s.Records)
	if err != nil {
		return outcome{}, err
	}
	text := map[string]string{}
	for q, a := range m {
		text[q] = a.String()
	}
	b, err := json.Marshal(text)
	return outcome{Text: string(b)}, err
}

// queryCell asks each question once untimed, and then s.Extra["repeat"] times;
// with 0 the first time counts. Behind s.For it begins no other question.
func queryCell(s spec) (o outcome, err error) {
	k, err := ask.ByName(s.Engine)
	if err != nil {
		return o, err
	}
	runtime.GOMAXPROCS(max(s.Goroutines, 1))
	e, err := k.Open(s.Dir, s.Records, s.Goroutines)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	evict := make([]byte, 192<<20)
	for i := range evict {
		evict[i] = byte(i)
	}
	sink := uint32(0)
	o.Figures = map[string]float64{}
	answers := map[string]string{}
	repeat := int(s.Extra["repeat"])
	begun := time.Now()
	for _, q := range ask.Names {
		if time.Since(begun) > s.For {
			break
		}
		var took measure.Series
		for i := range repeat + 1 {
			sink += simd.Sum(evict)
			t := time.Now()
			a, ok, err := e.Ask(q)
			d := time.Since(t)
			if err != nil {
				return o, fmt.Errorf("%s: %w", q, err)
			}
			if !ok {
				break
			}
			if text := a.String(); i == 0 {
				answers[q] = text
			} else if text != answers[q] {
				return o, fmt.Errorf("%s has two answers: %s, and then %s", q, answers[q], text)
			}
			if i > 0 || repeat == 0 {
				took = append(took, float64(d))
			}
		}
		if len(took) > 0 {
			o.Figures[q] = took.Median()
		}
	}
	runtime.KeepAlive(sink)
	b, err := json.Marshal(answers)
	o.Text = string(b)
	return o, err
}
