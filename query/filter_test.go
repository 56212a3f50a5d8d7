package query

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// TestFilterAgainstNaive: a bound condition, over a record and over a segment in
// memory, holds where the naive walk says.
func TestFilterAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := allKinds
		n := rapid.SampledFrom([]int{0, 1, 2, 63, 64, 65, 130, 2047, 2049, 2300}).Draw(t, "n")
		first := rapid.SampledFrom([]uint64{0, 1, 1 << 40, 1<<64 - 3000}).Draw(t, "first")
		recs := rows(t, s, first, n)
		p := preds(t, s, recs, 3)
		f, err := NewFilter(s, p)
		if err != nil {
			t.Fatal(err)
		}
		var want []uint32
		for i := range n {
			rec := recs[i*s.Width():][:s.Width()]
			holds := naiveHolds(s, p, rec)
			if holds {
				want = append(want, uint32(i))
			}
			if f.Match(rec) != holds {
				t.Fatalf("%v on record %d: Match is %v", p, i, !holds)
			}
		}
		got, err := f.Select(nil, segment.FromRows(s, first, recs))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v selects %d records, want %d", p, len(got), len(want))
		}
	})
}

// TestFilterMayAgainstNaive: no part is ruled out that has a record for which the
// condition holds, and one whose bounds tell is ruled out.
func TestFilterMayAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := allKinds
		recs := rows(t, s, 0, rapid.SampledFrom([]int{0, 1, 60, 100, 210}).Draw(t, "n"))
		layout := rapid.SampledFrom([]segment.Layout{segment.Columns, segment.Rows}).Draw(t, "layout")
		v, done := snapshot(t, s, recs, stream.Options{Capacity: 50, Layout: layout}, rapid.Bool().Draw(t, "seal"))
		defer done()
		p := preds(t, s, recs, 3)
		f, err := NewFilter(s, p)
		if err != nil {
			t.Fatal(err)
		}
		for pt, err := range v.Parts(0, v.End()) {
			if err != nil {
				t.Fatal(err)
			}
			holds := false
			for i := pt.First; i < pt.End; i++ {
				holds = holds || naiveHolds(s, p, recs[int(i)*s.Width():][:s.Width()])
			}
			if holds && !f.May(pt) {
				t.Fatalf("%v rules out [%d, %d), in which it holds", p, pt.First, pt.End)
			}
			for id := range s.NumFields() {
				lo, hi, ok := pt.Bounds(id)
				if !ok {
					continue
				}
				name, below, above := s.Field(id).Name, Lt(s.Field(id).Name, lo), Gt(s.Field(id).Name, hi)
				if !s.Field(id).Kind.Signed() {
					below, above = Lt(name, uint64(lo)), Gt(name, uint64(hi))
				}
				if f, err := NewFilter(s, And(p, Or(below, above))); err != nil || f.May(pt) {
					t.Fatalf("%v outside of its bounds is not ruled out: %v", name, err)
				}
			}
		}
	})
}

// TestFilterMay says for which parts a condition is worth a look: here b and the
// time begin a hundred higher in each of three segments.
func TestFilterMay(t *testing.T) {
	s := allKinds
	b, _ := s.Index("b")
	var recs []byte
	for i := range 120 {
		rec := make([]byte, s.Width())
		schema.PutTime(rec, int64(i/50*100+i%50))
		if err := s.PutInt(rec, b, int64(i/50*100+i%50)); err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec...)
	}
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		v, done := snapshot(t, s, recs, stream.Options{Capacity: 50, Layout: layout}, true)
		var parts []stream.Part
		for pt, err := range v.Parts(0, v.End()) {
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, pt)
		}
		if len(parts) != 3 {
			t.Fatalf("%d segments, want 3", len(parts))
		}
		for _, c := range []struct {
			where         string
			columns, rows string // a letter for each segment: M where it may hold
		}{
			{"", "MMM", "MMM"},
			{"seq in []", "---", "---"},
			{"seq == 49", "M--", "M--"},
			{"seq >= 50 && seq < 101", "-MM", "-MM"},
			{"ts == 50us", "---", "---"},
			{"ts > 48us && ts <= 100us", "MM-", "MM-"},
			{"b == 49", "M--", "MMM"}, // rows have no bounds but those of the time
			{"b in [50, 99]", "---", "MMM"},
			{"!(b < 100)", "-MM", "MMM"},
			{"b == 3 && ts >= 100us", "---", "-MM"},
			{"b == 3 || ts >= 200us", "M-M", "MMM"},
			{"b == 3 || seq == 60", "MM-", "MMM"},
			{"a == 0", "MMM", "MMM"},
			{"a != 0", "---", "MMM"},
		} {
			p, err := ParseWhere(s, c.where)
			if err != nil {
				t.Fatal(err)
			}
			f, err := NewFilter(s, p)
			if err != nil {
				t.Fatal(err)
			}
			got, want := "", c.columns
			if layout == segment.Rows {
				want = c.rows
			}
			for _, pt := range parts {
				if f.May(pt) {
					got += "M"
				} else {
					got += "-"
				}
			}
			if got != want {
				t.Errorf("%v: %q may hold in %s, want %s", layout, c.where, got, want)
			}
		}
		done()
	}
}

// TestSets holds the algebra of sets against single values.
func TestSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := span{100, 120}
		draw := func(name string) (x set) {
			var all set
			for range rapid.IntRange(0, 4).Draw(t, name) {
				lo := rapid.Uint64Range(d.lo, d.hi).Draw(t, "lo")
				all = append(all, span{lo, rapid.Uint64Range(lo, d.hi).Draw(t, "hi")})
			}
			return set(nil).or(all)
		}
		a, b := draw("a"), draw("b")
		and, or, not := a.and(b), a.or(b), a.not(d)
		for _, x := range []set{a, b, and, or, not} {
			for i, s := range x {
				if s.lo > s.hi || i > 0 && s.lo <= x[i-1].hi+1 {
					t.Fatalf("%v of %v and %v is not normal", x, a, b)
				}
			}
		}
		lo := rapid.Uint64Range(d.lo, d.hi).Draw(t, "zone lo")
		zone := span{lo, rapid.Uint64Range(lo, d.hi).Draw(t, "zone hi")}
		in := 0
		for x := d.lo; x <= d.hi; x++ {
			if and.has(x) != (a.has(x) && b.has(x)) || or.has(x) != (a.has(x) || b.has(x)) || not.has(x) == a.has(x) {
				t.Fatalf("%d of %v, %v: and %v, or %v, not %v", x, a, b, and, or, not)
			}
			if x >= zone.lo && x <= zone.hi && a.has(x) {
				in++
			}
		}
		want := some
		if in == 0 {
			want = none
		} else if in == int(zone.hi-zone.lo+1) {
			want = all
		}
		if got := a.against(zone); got != want {
			t.Fatalf("%v against %v is %v, want %v", a, zone, got, want)
		}
	})
}

func TestFilterRefuses(t *testing.T) {
	for _, p := range []Pred{
		Eq("nosuch", 1),
		Eq("e", "1.234"),
		Eq("b", "1.0"),
		Eq("h", "abc"),
		Not(Eq("ts", "yesterday")),
	} {
		if _, err := NewFilter(allKinds, p); !isInvalid(err) {
			t.Errorf("%v: %v, want ErrInvalid", p, err)
		}
	}
}
