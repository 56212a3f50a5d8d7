package journal

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bitmap is a set of small numbers, the plain way.
type bitmap [64]bool

func (b *bitmap) fill(from, to uint64) {
	for n := from; n < to; n++ {
		b[n] = true
	}
}

// ranges returns the runs of the numbers in [from, to) that are in the set, or
// are not.
func (b *bitmap) ranges(from, to uint64, in bool) (out []Range) {
	for n := from; n < to; n++ {
		if b[n] != in {
			continue
		}
		if k := len(out); k > 0 && out[k-1].To == n {
			out[k-1].To++
		} else {
			out = append(out, Range{n, n + 1})
		}
	}
	return out
}

func (b *bitmap) count(from, to uint64) (n uint64) {
	for _, r := range b.ranges(from, to, true) {
		n += r.To - r.From
	}
	return n
}

// next returns the first number from seq on that is in the set, or is not.
func (b *bitmap) next(seq uint64, in bool) (uint64, bool) {
	for n := seq; n < uint64(len(b)); n++ {
		if b[n] == in {
			return n, true
		}
	}
	return 0, false
}

func drawRange(t *rapid.T, name string) Range {
	from := rapid.Uint64Range(0, 60).Draw(t, name+" from")
	return Range{from, from + rapid.Uint64Range(0, min(9, 63-from)).Draw(t, name+" length")}
}

func TestRangesAgainstBitmap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var model bitmap
		var set Ranges
		var all []Range
		for range rapid.IntRange(0, 8).Draw(t, "adds") {
			r := drawRange(t, "add")
			model.fill(r.From, r.To)
			all = append(all, r)
			old := slices.Clone(set)
			next := set.Add(r.From, r.To)
			if !slices.Equal(set, old) {
				t.Fatalf("Add(%v) changed the old set to %v", r, set)
			}
			set = next
		}
		if want := model.ranges(0, 64, true); !slices.Equal(set, want) {
			t.Fatalf("the set is %v, want %v", set, want)
		}
		given := slices.Clone(all)
		if u := Union(all); !slices.Equal(u, set) || !slices.Equal(all, given) {
			t.Fatalf("Union(%v) = %v, want %v; then %v", given, u, set, all)
		}
		for n := range uint64(64) {
			if set.Has(n) != model[n] {
				t.Fatalf("%v.Has(%d) = %v", set, n, set.Has(n))
			}
			if want, ok := model.next(n, false); ok && set.Skip(n) != want {
				t.Fatalf("%v.Skip(%d) = %d, want %d", set, n, set.Skip(n), want)
			}
			want, wantOK := model.next(n, true)
			if got, ok := set.Next(n); got != want || ok != wantOK {
				t.Fatalf("%v.Next(%d) = %d, %v, want %d, %v", set, n, got, ok, want, wantOK)
			}
		}
		q := drawRange(t, "query")
		gaps := model.ranges(q.From, q.To, false)
		if got := set.Gaps(q.From, q.To); !slices.Equal(got, gaps) {
			t.Fatalf("%v.Gaps(%v) = %v, want %v", set, q, got, gaps)
		}
		if got := set.Covers(q.From, q.To); got != (len(gaps) == 0) {
			t.Fatalf("%v.Covers(%v) = %v", set, q, got)
		}
	})
}

func TestRangesAtTheEnds(t *testing.T) {
	const top = math.MaxUint64
	set := Ranges(nil).Add(0, 1).Add(top-1, top).Add(5, 5).Add(9, 3)
	if got := fmt.Sprint(set); got != fmt.Sprintf("[{0 1} {%d %d}]", uint64(top-1), uint64(top)) {
		t.Errorf("the set is %v", got)
	}
	if n := set.Skip(top - 1); n != top {
		t.Errorf("Skip = %d", n)
	}
	if _, ok := set.Next(top); ok {
		t.Error("there is a number above the last")
	}
	if got := set.Gaps(0, top); len(got) != 1 || got[0] != (Range{1, top - 1}) {
		t.Errorf("Gaps = %v", got)
	}
	if !set.Covers(7, 7) || !set.Covers(9, 3) || set.Covers(0, top) {
		t.Error("Covers is wrong at the ends")
	}
	if got := Union(nil); got != nil {
		t.Errorf("Union of nothing = %v", got)
	}
}
