package report

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ledger/bench/internal/facts"
	"example.com/ledger/bench/internal/measure"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		u    Unit
		want string
	}{
		{12.34, Nanos, "12.3 ns"}, {999, Nanos, "999 ns"}, {1234, Nanos, "1.23 µs"}, {5e6, Nanos, "5 ms"}, {2.5e9, Nanos, "2.50 s"},
		{0, Nanos, "0 ns"}, {4096, Count, "4.10 k"}, {10, Count, "10"}, {1e8, Count, "100 M"}, {25e6, Rate, "25 M/s"}, {28.1, Number, "28.1"},
		{math.NaN(), Number, "–"},
	} {
		if got := Format(c.v, c.u); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.u, got, c.want)
		}
	}
	if got, want := Cell(measure.Series{3, 1, 2}, Nanos), "2 ns (1 ns–3 ns)"; got != want {
		t.Errorf("Cell = %q, want %q", got, want)
	}
}

// TestSave: a second question joins the first in the document of the day, and
// the same one takes its own place.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	f := facts.Facts{CPU: "AMD EPYC(TM) 7R13 @ 2 GHz", Cores: 2}
	line := Line{Name: "Ledger", X: []float64{1, 16}, Y: []float64{1e6, 2e7}}
	charts := func(name string) map[string][]Chart {
		return map[string][]Chart{name: {
			{Title: "a", LogX: true, LogY: true, Unit: Count, Lines: []Line{line, {Name: "floor", Dashed: true, X: line.X, Y: line.X}}},
			{Title: "b", Labels: []string{"p50", "p99"}, Lines: []Line{line}}, {Title: "empty", LogY: true},
			{Title: "one", LogX: true, LogY: true, Lines: []Line{{Name: "Ledger", X: []float64{1}, Y: []float64{1e3}}}}, {Title: "none", LogX: true},
		}}
	}
	var base string
	for _, name := range []string{"append", "store", "append"} {
		q := &Question{Name: name, Title: "Asked: " + name, Tables: []*Table{{Title: "T", Keys: []string{"engine"}, Metrics: []Metric{{"per record", Nanos}}}}}
		q.Tables[0].Row("Ledger").Add(map[string]float64{"per record": 42})
		var err error
		if base, err = Save(dir, f, q, charts(name), []string{"append", "store"}); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasSuffix(base, "-amd-epyc-7r13-2c") {
		t.Errorf("base is %q", base)
	}
	text, err := os.ReadFile(filepath.Join(dir, base+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"AMD EPYC", "Asked: append", "Asked: store", "42 ns"} {
		if bytes.Count(text, []byte(want)) < 1 {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	for _, name := range []string{"append", "store"} {
		svg, err := os.ReadFile(filepath.Join(dir, base+"-"+name+".svg"))
		if err != nil || !bytes.Contains(svg, []byte("</svg>")) {
			t.Errorf("%s: %d bytes, %v", name, len(svg), err)
		}
	}
}
