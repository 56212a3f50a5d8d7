package query

import (
	"context"
	"testing"

	"example.com/ledger/segment"
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
