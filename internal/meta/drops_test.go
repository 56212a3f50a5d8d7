package meta

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A dropMap says of each number why it is gone, the plain way.
type dropMap map[uint64]string

func (m dropMap) add(d Drop) {
	for n := d.From; n < d.To; n++ {
		if m[n] == "" {
			m[n] = d.Reason
		}
	}
}

// ranges are the runs of numbers that are gone for the same reason.
func (m dropMap) ranges() (out []string) {
	last := uint64(0)
	for n := range uint64(64) {
		switch {
		case m[n] == "":
		case len(out) > 0 && last == n && m[n] == m[n-1]:
			last = n + 1
			continue
		default:
			out = append(out, fmt.Sprint(n, m[n]))
			last = n + 1
		}
	}
	return out
}

func (m dropMap) of(ranges []Drop) (out []string) {
	for _, r := range ranges {
		out = append(out, fmt.Sprint(r.From, r.Reason))
		for n := r.From; n < r.To; n++ {
			if m[n] != r.Reason {
				out = append(out, fmt.Sprintf("%d is gone for %q, not %q", n, m[n], r.Reason))
			}
		}
	}
	return out
}

func TestDropsAddAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := make(dropMap)
		d := Drops{ID: "id"}
		for i := range rapid.IntRange(0, 10).Draw(t, "adds") {
			from := rapid.Uint64Range(0, 60).Draw(t, "from")
			n := Drop{from, from + rapid.Uint64Range(0, min(12, 64-from)).Draw(t, "length"),
				rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "reason"), time.Unix(int64(i), 0)}
			old := slices.Clone(d.Ranges)
			next := d.Add(n)
			if !slices.Equal(d.Ranges, old) {
				t.Fatalf("Add changed the old drops to %v", d.Ranges)
			}
			d = next
			model.add(n)
			if got, want := model.of(d.Ranges), model.ranges(); !slices.Equal(got, want) {
				t.Fatalf("after %v the ranges are %v, want %v", n, got, want)
			}
			covered := 0
			for _, r := range d.Ranges {
				covered += int(r.To - r.From)
			}
			if covered != len(model) {
				t.Fatalf("%d numbers are gone, want %d: %v", covered, len(model), d.Ranges)
			}
		}
		b, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeDrops("drops.json", b)
		if err != nil || fmt.Sprint(utc(again.Ranges)) != fmt.Sprint(utc(d.Ranges)) || again.ID != d.ID {
			t.Fatalf("%v decodes to %v, %v", d, again, err)
		}
	})
}

func utc(ranges []Drop) []Drop {
	out := make([]Drop, 0, len(ranges))
	for _, r := range ranges {
		r.At = r.At.UTC()
		out = append(out, r)
	}
	return out
}

// TestDropsMerge: a range that goes on for the same reason grows, and has the
// later time; another reason begins another range.
func TestDropsMerge(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(n, 0).UTC() }
	d := Drops{}.Add(Drop{10, 20, "a", at(5)}).Add(Drop{20, 30, "a", at(3)}).Add(Drop{30, 40, "b", at(9)}).Add(Drop{5, 35, "a", at(7)})
	want := []Drop{{5, 30, "a", at(7)}, {30, 40, "b", at(9)}}
	if !slices.Equal(d.Ranges, want) {
		t.Errorf("the ranges are %v, want %v", d.Ranges, want)
	}
	for _, n := range []Drop{{7, 7, "x", at(0)}, {9, 8, "x", at(0)}, {6, 39, "x", at(0)}} {
		if again := d.Add(n); !slices.Equal(again.Ranges, want) {
			t.Errorf("Add(%v) made %v", n, again.Ranges)
		}
	}
}
