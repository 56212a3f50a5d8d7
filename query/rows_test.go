package query

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// TestRowsAgainstNaive: the records that hold, in either direction, from either
// end, with any columns.
func TestRowsAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := allKinds
		n := rapid.SampledFrom([]int{0, 1, 100, 700, 2100}).Draw(t, "n")
		recs := rows(t, s, 0, n)
		o := stream.Options{
			Capacity: rapid.SampledFrom([]int{100, 512, 5000}).Draw(t, "capacity"),
			Layout:   rapid.SampledFrom([]segment.Layout{segment.Columns, segment.Rows}).Draw(t, "layout"),
		}
		v, done := snapshot(t, s, recs, o, rapid.Bool().Draw(t, "seal"))
		defer done()
		for range 3 {
			p := preds(t, s, recs, 2)
			if rapid.Bool().Draw(t, "everything") {
				p = Pred{}
			}
			q := From(v).Where(p)
			limit := rapid.SampledFrom([]int{0, 0, 1, 50, 3000}).Draw(t, "limit")
			last := rapid.SampledFrom([]int{0, 0, 1, 77, 3000}).Draw(t, "last")
			reverse := rapid.Bool().Draw(t, "reverse")
			if q.Limit(limit).Last(last); reverse {
				q.Reverse()
			}
			var want []int
			for i := range n {
				if naiveHolds(s, p, recs[i*s.Width():][:s.Width()]) {
					want = append(want, i)
				}
			}
			if last > 0 {
				want = want[max(0, len(want)-last):]
			}
			if reverse {
				slices.Reverse(want)
			}
			if limit > 0 {
				want = want[:min(limit, len(want))]
			}
			cols := rapid.SliceOfN(rapid.SampledFrom(names(s)), 1, 4).Draw(t, "columns")
			at := 0
			for r, err := range q.Rows(context.Background(), cols...) {
				if err != nil {
					t.Fatal(err)
				}
				if r.Len() == 0 {
					t.Fatal("empty rows")
				}
				for i := range r.Len() {
					if at == len(want) || uint64(r.Seq(i)) != uint64(want[at]) {
						t.Fatalf("%v limit %d last %d reverse %v: record %d is %d, want %v", p, limit, last, reverse, at, r.Seq(i), want[at:])
					}
					rec := recs[want[at]*s.Width():][:s.Width()]
					for c, name := range cols {
						v := r.At(i, c)
						if v.scale = 0; v.num.big().Cmp(naiveValue(s, rec, name)) != 0 || r.Bits(c)[i] != int64(v.num[0]) {
							t.Fatalf("record %d: %s is %v, want %v", want[at], name, v, naiveValue(s, rec, name))
						}
					}
					if got, err := r.Record(nil, i); err != nil || !bytes.Equal(got, rec) {
						t.Fatalf("record %d is %x, %v; want %x", want[at], got, err, rec)
					}
					at++
				}
			}
			if at != len(want) {
				t.Fatalf("%v limit %d last %d reverse %v: %d records, want %d", p, limit, last, reverse, at, len(want))
			}
			compareLargest(t, From(v).Where(p), recs)
		}
	})
}

// compareLargest holds Largest against sorting everything.
func compareLargest(t *rapid.T, q *Query, recs []byte) {
	s := q.s
	field := rapid.SampledFrom(names(s)).Draw(t, "largest")
	n := rapid.IntRange(0, 20).Draw(t, "n largest")
	var all [][]byte
	for ; len(recs) > 0; recs = recs[s.Width():] {
		if naiveHolds(s, q.pred, recs[:s.Width()]) {
			all = append(all, recs[:s.Width()])
		}
	}
	slices.SortStableFunc(all, func(a, b []byte) int { return naiveValue(s, b, field).Cmp(naiveValue(s, a, field)) })
	got, err := q.Largest(context.Background(), n, field)
	if err != nil || len(got) != min(n, len(all)) {
		t.Fatalf("the %d largest of %d: %d, %v", n, len(all), len(got), err)
	}
	for i, r := range got {
		if uint64(r.Seq) != schema.Seq(all[i]) {
			t.Fatalf("largest %s: %d is record %d, want %d", field, i, r.Seq, schema.Seq(all[i]))
		}
	}
}

// TestRowsEnd: breaking out of the loop, a cancelled context and a query that
// can't be.
func TestRowsEnd(t *testing.T) {
	recs := makeRows(allKinds, 0, 9000, "small", "sorted", 1)
	v, done := snapshot(t, allKinds, recs, stream.Options{Capacity: 5000}, false)
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	turns := 0
	for r, err := range From(v).Rows(ctx) {
		if turns++; turns == 1 {
			if err != nil || len(r.Columns) != 2+allKinds.NumFields() || r.Columns[0].Name != "seq" || !r.Columns[1].Time {
				t.Fatalf("%v, %v", r, err)
			}
			cancel()
			continue
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after cancel: %v", err)
		}
	}
	if turns != 2 {
		t.Fatalf("%d turns after cancel, want the rows and the error", turns)
	}
	for range From(v).Rows(context.Background()) {
		break
	}
	for name, q := range map[string]*Query{
		"grouped": From(v).By("a"), "negative limit": From(v).Limit(-1), "negative last": From(v).Last(-1),
		"where": From(v).Where(Eq("nosuch", 1)),
	} {
		for r, err := range q.Rows(context.Background()) {
			if !isInvalid(err) || r != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, err := range From(v).Rows(context.Background(), "nosuch") {
		if !isInvalid(err) {
			t.Errorf("unknown column: %v", err)
		}
	}
}

// TestVolumeAtPrice holds levels against adding up by hand.
func TestVolumeAtPrice(t *testing.T) {
	s := mustSchema(schema.New(schema.Nanosecond,
		schema.Field{Name: "px", Kind: schema.I32, Scale: 2}, schema.Field{Name: "qty", Kind: schema.I32},
		schema.Field{Name: "sym", Kind: schema.U16}, schema.Field{Name: "side", Kind: schema.U8}))
	recs := make([]byte, 3000*s.Width())
	r := rng(9)
	type key struct{ sym, px int64 }
	for _, tick := range []int64{0, 1, 7} {
		want := map[key][4]int64{} // volume, buy, sell, count
		for i := range 3000 {
			rec := recs[i*s.Width():][:s.Width()]
			px, qty, sym, side := int64(r.next()%50)-25, int64(r.next()%9), int64(r.next()%3), int64(r.next()%3)
			for f, v := range []int64{px, qty, sym, side} {
				if err := s.PutInt(rec, f, v); err != nil {
					t.Fatal(err)
				}
			}
			if tick > 1 {
				px -= ((px % tick) + tick) % tick
			}
			w := want[key{sym, px}]
			w[0] += qty
			if side < 2 {
				w[1+side] += qty
			}
			w[3]++
			want[key{sym, px}] = w
		}
		v, done := snapshot(t, s, recs, stream.Options{Capacity: 1000}, false)
		got, err := From(v).By("sym").VolumeAtPrice(context.Background(), LevelOptions{Side: "side", Tick: tick})
		done()
		if err != nil || len(got) != len(want) {
			t.Fatalf("tick %d: %d levels, %v; want %d", tick, len(got), err, len(want))
		}
		if !slices.IsSortedFunc(got, func(a, b Level) int {
			return cmp.Or(a.Keys[0].Cmp(b.Keys[0]), a.Price.Cmp(b.Price))
		}) {
			t.Errorf("tick %d: levels are out of order", tick)
		}
		for _, l := range got {
			sym, _ := l.Keys[0].Int64()
			px, _ := l.Price.Int64()
			volume, _ := l.Volume.Int64()
			buy, _ := l.Buy.Int64()
			sell, _ := l.Sell.Int64()
			if have := [4]int64{volume, buy, sell, l.Count}; have != want[key{sym, px}] {
				t.Errorf("tick %d: %d at %d: %v, want %v", tick, sym, px, have, want[key{sym, px}])
			}
		}
	}
}
