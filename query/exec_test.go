package query

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// TestAskAhead: asking ahead changes nothing but the order in which the disk is
// read, and each part is asked for once.
func TestAskAhead(t *testing.T) {
	recs := makeRows(allKinds, 0, 30*4096, "small", "sorted", 3)
	_, st := onDisk(t, recs, segment.Columns)
	v, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	q := From(v)
	p, err := q.plan([]Agg{Sum("qty")})
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := q.execute(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	x := &execution{ctx: context.Background(), p: p, workers: 1}
	w := newWorker()
	w.reset(x.ctx, p)
	if _, err := x.list(q, w); err != nil {
		t.Fatal(err)
	}
	x.cold.Store(true)
	x.run(w)
	if x.err != nil || x.asked != len(x.parts) || len(x.parts) != 30 {
		t.Fatalf("%v; asked for %d of %d parts", x.err, x.asked, len(x.parts))
	}
	if got := w.groups.at(0)[1]; got != want.at(0)[1] {
		t.Fatalf("sum %v, want %v", got.big(), want.at(0)[1].big())
	}
}

// TestWorkers: results, what they say of segments, and errors are the same
// whatever the number of goroutines.
func TestWorkers(t *testing.T) {
	recs := makeRows(allKinds, 0, 40*100, "mixed", "jitter", 11)
	v, done := snapshot(t, allKinds, recs, stream.Options{Capacity: 100}, true)
	defer done()
	ask := func(workers int, build func(*Query), aggs ...Agg) (string, error) {
		q := From(v).Workers(workers)
		q.share = 1
		build(q)
		r, err := q.Run(t.Context(), aggs...)
		if err != nil {
			return "", err
		}
		text := fmt.Appendln(nil, r.Stats.Read, r.Stats.Skipped)
		for i := range r.Len() {
			for c := range r.Columns {
				text = append(r.At(i, c).Append(text), ' ')
			}
		}
		return string(text), nil
	}
	for name, build := range map[string]func(*Query){
		"all":       func(*Query) {},
		"where":     func(q *Query) { q.Where(Or(Gt("qty", 500), Lt("seq", 1000))) },
		"groups":    func(q *Query) { q.By("b", "qty") },
		"intervals": func(q *Query) { q.By("a").Every(50 * time.Millisecond) },
		"top":       func(q *Query) { q.By("qty").Top(7, 1) },
		"too many":  func(q *Query) { q.By("seq").MaxGroups(2500) },
	} {
		aggs := []Agg{Count(), Sum("g"), Min("c"), Max("h"), First("px"), Last("px"), VWAP("wpx", "wqty"), Avg("e")}
		want, werr := ask(1, build, aggs...)
		if (name == "too many") != errors.Is(werr, ErrTooMany) {
			t.Fatalf("%s: %v", name, werr)
		}
		for workers := 2; workers <= 9; workers++ {
			got, err := ask(workers, build, aggs...)
			if got != want || fmt.Sprint(err) != fmt.Sprint(werr) {
				t.Errorf("%s: %d workers say %v, %.500s, one %v, %.500s", name, workers, err, got, werr, want)
			}
		}
	}
	q := From(v).Workers(4)
	q.share = 1
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Run(ctx, Sum("qty")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	parts, _, err := parts(nil, v, 0, 1<<63)
	if err != nil || q.workersFor(parts) != 4 {
		t.Fatalf("%d workers for %d segments, %v: this test tests nothing", q.workersFor(parts), len(parts), err)
	}
}

// TestAllocations: what a query allocates doesn't grow with the records.
func TestAllocations(t *testing.T) {
	allocs := func(n int) float64 {
		recs := makeRows(allKinds, 0, n*4096, "small", "sorted", 3)
		_, st := onDisk(t, recs, segment.Columns)
		v, err := st.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		q := From(v).Where(And(Gt("qty", 0), Ne("a", 1))).By("d").Workers(1)
		return testing.AllocsPerRun(20, func() {
			if _, err := q.Run(context.Background(), VWAP("px", "qty"), Max("g")); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(2), allocs(20); many > few+10 && !eager {
		t.Errorf("%v allocations for 8,192 records, %v for ten times as many", few, many)
	}
}
