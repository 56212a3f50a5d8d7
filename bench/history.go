//go:build !duckdb

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/ledger/bench/internal/facts"
	"example.com/ledger/bench/internal/report"
	"example.com/ledger/bench/internal/source"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

func init() {
	cells["history-build"] = historyBuildCell
	cells["history"] = historyCell
}

// historyPass is how many records are appended to one stream before it is the
// next one's turn: less than a segment, so that rolls fall into one pass in eight.
const historyPass = 8192

// askHistory appends to streams with ever more records behind them, in turns, in
// one process.
func askHistory(r *run) (*report.Question, map[string][]report.Chart, error) {
	sizes := []uint64{10_000, 1_000_000, 10_000_000, 100_000_000}
	if r.flags.tiny {
		sizes = []uint64{10_000, 100_000, 300_000}
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, nil, err
	}
	if need, free := int64(sizes[len(sizes)-1])*40, facts.FreeBytes(r.dir); free < need {
		sizes = sizes[:len(sizes)-1]
		r.notes = append(r.notes, fmt.Sprintf("The longest history was left out: it needs %s of free disk.", report.Format(float64(need), report.Bytes)))
	}
	t := &report.Table{Title: "Append of single records by length of history", Keys: []string{"mode", "records before"}, Metrics: []report.Metric{
		{Name: "append, a record", Unit: report.Nanos}, {Name: "against the shortest", Unit: report.Number}, {Name: "instructions", Unit: report.Number}, {Name: "with rolls, a record", Unit: report.Nanos},
		{Name: "random read", Unit: report.Nanos}, {Name: "open", Unit: report.Nanos}, {Name: "heap", Unit: report.Bytes},
	}}
	modes := []stream.Durability{stream.Sealed}
	if r.flags.full {
		modes = append(modes, stream.Os)
	}
	for _, mode := range modes {
		dir := filepath.Join(r.dir, mode.String())
		for _, n := range sizes {
			_, err := r.measure(spec{Kind: "history-build", Engine: mode.String(), Dir: dir, Records: n}, pick(r, time.Minute, 3*time.Minute, 10*time.Minute))
			if err != nil {
				return nil, nil, fmt.Errorf("building %s: %w", short(n), err)
			}
			r.progress("%s: built a history of %s records", mode, short(n))
		}
		r.settle()
		for range pick(r, 1, 3, 3) {
			r.countInstructions(spec{Engine: mode.String(), Dir: dir}, sizes, func(n uint64, perAppend float64) {
				t.Row(mode.String(), short(n)).Add(map[string]float64{"instructions": perAppend})
			})
		}
		extra := map[string]float64{}
		for i, n := range sizes {
			extra[fmt.Sprint(i)] = float64(n)
		}
		err := r.rounds(pick(r, 1, 5, 9), 1, 1, func(round, _ int) {
			o, err := r.measure(spec{Kind: "history", Engine: mode.String(), Dir: dir, Extra: extra, Records: pick[uint64](r, 4, 16, 32)}, 2*time.Minute)
			if err != nil {
				r.notes = append(r.notes, r.remark(err))
				return
			}
			line := ""
			for i, n := range sizes {
				m := map[string]float64{}
				for _, x := range t.Metrics {
					if p := o.Points[x.Name]; i < len(p) {
						m[x.Name] = p[i]
					}
				}
				t.Row(mode.String(), short(n)).Add(m)
				line += fmt.Sprintf("  %s: %s", short(n), report.Format(m["append, a record"], report.Nanos))
			}
			r.progress("round %d  %s%s", round+1, mode, line)
		})
		if err != nil {
			return nil, nil, err
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, nil, err
		}
	}
	c := report.Chart{Title: "Append by length of history", X: "records before", Y: "a record", LogX: true, Unit: report.Nanos}
	for _, mode := range modes {
		l, rolls := report.Line{Name: "Ledger " + mode.String()}, report.Line{Name: "Ledger " + mode.String() + ", with rolls"}
		for _, n := range sizes {
			row := t.Row(mode.String(), short(n))
			if len(row.Figures["append, a record"]) == 0 {
				continue
			}
			l.X, l.Y = append(l.X, float64(n)), append(l.Y, row.Figures["append, a record"].Median())
			rolls.X, rolls.Y = append(rolls.X, float64(n)), append(rolls.Y, row.Figures["with rolls, a record"].Median())
		}
		c.Lines = append(c.Lines, l, rolls)
	}
	q := &report.Question{Tables: []*report.Table{t}, Notes: []string{
		fmt.Sprintf("All streams are open in one process, and get %d single records in turn, in an order that changes; a figure is the median of a process's passes, 'with rolls' their mean.", historyPass),
		fmt.Sprintf("Instructions are those of user space, an append, counted by valgrind between a process that appends %d records and one that appends %d, with one processor and no garbage collection.", countFew, countMany),
		"The longer histories grow by about 150,000 records in each round.",
		"Random reads are among the oldest 10,000 records. Heap is what opening added to the Go heap.",
		"'Against the shortest' is the median of the ratios of passes that follow each other. Every eight passes all streams are closed and opened, and the shortest is made anew, so that it stays short.",
	}}
	return q, map[string][]report.Chart{"history": {c}}, nil
}

func historyDir(s spec, records uint64) string {
	return filepath.Join(s.Dir, fmt.Sprint(records))
}

// historyBuildCell makes a stream with s.Records records.
func historyBuildCell(s spec) (outcome, error) {
	mode, err := stream.ParseDurability(s.Engine)
	if err != nil {
		return outcome{}, err
	}
	st, err := newHistory(historyDir(s, s.Records), mode, s.Records)
	if err != nil {
		return outcome{}, err
	}
	return outcome{}, st.Close()
}

func newHistory(dir string, mode stream.Durability, records uint64) (*stream.Stream, error) {
	st, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema(), Durability: mode})
	if err != nil {
		return nil, err
	}
	ring := source.NewRing(4096)
	for n := uint64(0); n < records; {
		b := ring.Next(4096)
		b = b[:min(uint64(len(b)), (records-n)*source.Width)]
		if _, _, err := st.Append(b); err != nil {
			st.Close()
			return nil, err
		}
		n += uint64(len(b) / source.Width)
	}
	return st, nil
}
