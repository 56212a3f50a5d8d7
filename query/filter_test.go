package query

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"example.com/ledger/segment"
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
