// Package report keeps results and writes them as text, JSON and charts.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"example.com/ledger/bench/internal/facts"
	"example.com/ledger/bench/internal/measure"
)

// A Unit says how a figure is printed.
type Unit string

// Figures are kept in base units: nanoseconds, bytes, things a second.
const (
	Nanos   Unit = "ns" // printed as ns, µs, ms or s
	Rate    Unit = "/s" // printed with k, M, G
	Bytes   Unit = "B"  // printed with k, M, G
	Count   Unit = "#"  // printed with k, M, G, and no unit
	Number  Unit = ""
	Percent Unit = "%"
)

// A Metric is a column of figures.
type Metric struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
}

// A Row is what was measured of one thing.
type Row struct {
	Keys    []string                  `json:"keys"` // as the table's Keys
	Floor   bool                      `json:"floor,omitempty"`
	Figures map[string]measure.Series `json:"figures"` // by metric, a value for each round
	Remark  string                    `json:"remark,omitempty"`
}

// A Table is one set of rows with the same columns.
type Table struct {
	Title   string   `json:"title"`
	Note    string   `json:"note,omitempty"`
	Keys    []string `json:"keys"`
	Metrics []Metric `json:"metrics"`
	Rows    []*Row   `json:"rows"`
}

// Find returns the row of these keys, or nil.
func (t *Table) Find(keys ...string) *Row {
	for _, r := range t.Rows {
		if slices.Equal(r.Keys, keys) {
			return r
		}
	}
	return nil
}

// Row returns the row of these keys, and adds it where there is none.
func (t *Table) Row(keys ...string) *Row {
	if r := t.Find(keys...); r != nil {
		return r
	}
	r := &Row{Keys: keys, Figures: map[string]measure.Series{}}
	t.Rows = append(t.Rows, r)
	return r
}

// Add adds a round's figures to a row.
func (r *Row) Add(figures map[string]float64) {
	for k, v := range figures {
		r.Figures[k] = append(r.Figures[k], v)
	}
}

// A Question is one set of measurements that belong together.
type Question struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Command string   `json:"command"`
	Begun   string   `json:"begun"`
	Took    string   `json:"took"`
	Notes   []string `json:"notes,omitempty"`
	Tables  []*Table `json:"tables"`
	Charts  []string `json:"charts,omitempty"` // file names
}

// A Document is all that was measured on one machine on one day: a question
// that is asked again takes the place of its former answer.
type Document struct {
	Facts     facts.Facts          `json:"facts"`
	Questions map[string]*Question `json:"questions"`
}

// Save puts a question into the document of its day in dir, and writes its
// charts. names is the order of questions in the text.
func Save(dir string, f facts.Facts, q *Question, charts map[string][]Chart, names []string) (base string, err error) {
	base = time.Now().UTC().Format("2006-01-02") + "-" + f.Class()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return base, err
	}
	doc := Document{Questions: map[string]*Question{}}
	path := filepath.Join(dir, base+".json")
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return base, err
	default:
		if err := json.Unmarshal(b, &doc); err != nil {
			return base, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		q.Charts = append(q.Charts, base+"-"+name+".svg")
	}
	for m, v := range doc.Facts.Modules { // another program's, which asked other questions
		if _, ok := f.Modules[m]; !ok && f.Modules != nil {
			f.Modules[m] = v
		}
	}
	doc.Facts = f
	doc.Questions[q.Name] = q
	if b, err = json.MarshalIndent(doc, "", " "); err != nil {
		return base, err
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return base, err
	}
	var out strings.Builder
	doc.Text(&out, names)
	if err := os.WriteFile(filepath.Join(dir, base+".txt"), []byte(out.String()), 0o644); err != nil {
		return base, err
	}
	for name, panels := range charts {
		if err := drawTo(filepath.Join(dir, base+"-"+name+".svg"), panels); err != nil {
			return base, err
		}
	}
	return base, nil
}

// Text writes the document, questions in the order of names.
func (d *Document) Text(w io.Writer, names []string) {
	for _, l := range d.Facts.Lines() {
		fmt.Fprintln(w, l)
	}
	fmt.Fprintln(w, "records      40-byte fills; figures are medians of the rounds (n), with the smallest and the largest in brackets")
	for _, n := range names {
		if q := d.Questions[n]; q != nil {
			fmt.Fprintln(w)
			q.Text(w)
		}
	}
}

// Text writes a question with its tables.
func (q *Question) Text(w io.Writer) {
	fmt.Fprintf(w, "## %s\n\n%s; %s, took %s\n", q.Title, q.Command, q.Begun, q.Took)
	for _, n := range q.Notes {
		fmt.Fprintf(w, "- %s\n", n)
	}
	for _, t := range q.Tables {
		fmt.Fprintf(w, "\n%s\n", t.Title)
		if t.Note != "" {
			fmt.Fprintln(w, t.Note)
		}
		t.text(w)
	}
}

// group is what rows between two lines have in common: all keys but the engine.
func (r *Row) group(t *Table) string {
	if i := slices.Index(t.Keys, "what"); i >= 0 && len(t.Keys) > 1 {
		return r.Keys[i]
	}
	return strings.Join(r.Keys[:max(len(r.Keys)-1, 0)], "\x00")
}

func (t *Table) text(w io.Writer) {
	tw := table.NewWriter()
	tw.SetOutputMirror(w)
	tw.SetStyle(table.StyleLight)
	tw.Style().Format.Header = text.FormatDefault
	head := table.Row{}
	var configs []table.ColumnConfig
	for _, k := range t.Keys {
		head = append(head, k)
	}
	for i, m := range t.Metrics {
		head = append(head, m.Name)
		configs = append(configs, table.ColumnConfig{Number: len(t.Keys) + i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	tw.SetColumnConfigs(configs)
	tw.AppendHeader(append(head, "n", "remark"))
	last := ""
	for _, r := range t.Rows {
		group := r.group(t)
		if last != "" && group != last {
			tw.AppendSeparator()
		}
		last = group
		row := table.Row{}
		for _, k := range r.Keys {
			row = append(row, k)
		}
		n := 0
		for _, m := range t.Metrics {
			s := r.Figures[m.Name]
			n = max(n, len(s))
			row = append(row, Cell(s, m.Unit))
		}
		tw.AppendRow(append(row, n, r.Remark))
	}
	tw.Render()
}

// Cell prints a series: its median, and where there are several values, the
// smallest and the largest.
func Cell(s measure.Series, u Unit) string {
	if len(s) == 0 {
		return "–"
	}
	lo, hi := s.Range()
	if len(s) == 1 || lo == hi {
		return Format(s.Median(), u)
	}
	return fmt.Sprintf("%s (%s–%s)", Format(s.Median(), u), Format(lo, u), Format(hi, u))
}

// Format prints a figure with three digits and its unit.
func Format(v float64, u Unit) string {
	if math.IsNaN(v) {
		return "–"
	}
	a := math.Abs(v)
	switch u {
	case Nanos:
		switch {
		case a < 1e3:
			return digits(v) + " ns"
		case a < 1e6:
			return digits(v/1e3) + " µs"
		case a < 1e9:
			return digits(v/1e6) + " ms"
		}
		return digits(v/1e9) + " s"
	case Rate, Bytes, Count:
		unit := strings.TrimSuffix(string(u), "#")
		switch {
		case a < 1e3:
			return strings.TrimSpace(digits(v) + " " + unit)
		case a < 1e6:
			return digits(v/1e3) + " k" + unit
		case a < 1e9:
			return digits(v/1e6) + " M" + unit
		}
		return digits(v/1e9) + " G" + unit
	case Percent:
		return digits(v) + " %"
	}
	return digits(v)
}

func digits(v float64) string {
	switch a := math.Abs(v); {
	case v == math.Trunc(v) && a < 1e6:
		return fmt.Sprintf("%.0f", v)
	case a < 10:
		return fmt.Sprintf("%.2f", v)
	case a < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
