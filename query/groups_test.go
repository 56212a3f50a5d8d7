package query

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// keyed makes records whose fields a to h have few values, each around a base of
// its own, and whose prices and quantities are as style says.
func keyed(n int, style, times string, seed uint64, values uint64) []byte {
	s := allKinds
	recs := makeRows(s, 0, n, style, times, seed)
	r := rng(seed + 1)
	for f := range 8 {
		base := r.next()
		if k := s.Field(f).Kind; r.next()%2 == 0 { // as far as the kind's end
			base = domain(k).lo ^ map[bool]uint64{true: 1 << 63}[k.Signed()]
		}
		for i := range n {
			putBits(s, recs[i*s.Width():], f, base+r.next()%values)
		}
	}
	return recs
}

// TestGroupsAgainstNaive is TestRunAgainstNaive for the groups that go through
// tables: few values of the keys, and runs long enough.
func TestGroupsAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := allKinds
		n := rapid.SampledFrom([]int{300, 700, 700, 1300}).Draw(t, "n")
		style := rapid.SampledFrom([]string{"small", "edges", "any", "mixed"}).Draw(t, "values")
		times := rapid.SampledFrom([]string{"sorted", "jitter"}).Draw(t, "times")
		recs := keyed(n, style, times, rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]uint64{1, 3, 40}).Draw(t, "keys"))
		layout := rapid.SampledFrom([]segment.Layout{segment.Columns, segment.Rows}).Draw(t, "layout")
		v, done := snapshot(t, s, recs, stream.Options{Capacity: 600, Layout: layout}, rapid.Bool().Draw(t, "seal"))
		defer done()
		for range 2 {
			q := From(v)
			if rapid.Bool().Draw(t, "filtered") {
				q.Where(preds(t, s, recs, 1))
			}
			keys := names(s)[2:10]
			for range rapid.IntRange(1, 2).Draw(t, "fields") {
				q.By(rapid.SampledFrom(keys).Draw(t, "key"))
			}
			if rapid.Bool().Draw(t, "intervals") {
				q.Every(300 * time.Millisecond)
			}
			px := rapid.SampledFrom([]string{"px", "wpx", "a", "f", "h"}).Draw(t, "px")
			qty := rapid.SampledFrom([]string{"qty", "wqty", "b", "f", "h"}).Draw(t, "qty")
			aggs := []Agg{First(px), Max(px), Min(px), Last(px), Sum(qty), VWAP(px, qty), Count()}
			from := rapid.IntRange(0, 6).Draw(t, "from")
			aggs = aggs[from:rapid.IntRange(from, 7).Draw(t, "to")]
			q.workers = rapid.IntRange(1, 3).Draw(t, "workers")
			q.compare(t, recs, aggs)
		}
	})
}

// TestTablesAreLeftEmpty: a query that ends in the middle of a table leaves
// nothing in it for the next one.
func TestTablesAreLeftEmpty(t *testing.T) {
	recs := keyed(3000, "small", "sorted", 1, 40)
	v, done := snapshot(t, allKinds, recs, stream.Options{Capacity: 700}, false)
	defer done()
	for _, aggs := range [][]Agg{{Sum("qty")}, {Max("px"), VWAP("px", "qty")}} {
		for limit := range 30 {
			_, err := From(v).By("d").MaxGroups(limit).Workers(1).Run(context.Background(), aggs...)
			if !errors.Is(err, ErrTooMany) {
				t.Fatalf("at most %d groups: %v", limit, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := From(v).By("d").Run(ctx, aggs...); !errors.Is(err, context.Canceled) {
				t.Fatalf("cancelled: %v", err)
			}
			From(v).By("d").Workers(1).compare(t, recs, aggs)
		}
	}
}
