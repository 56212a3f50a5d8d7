package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// testStream makes a stream with these times, one record each, in segments of 16,
// all of them sealed if seal is set, and returns a snapshot of it. Field n is the
// record's number halved.
func testStream(t testing.TB, times []int64, seal bool) *stream.Snapshot {
	t.Helper()
	s, err := schema.New(schema.Nanosecond, schema.Field{Name: "n", Kind: schema.U16})
	if err != nil {
		t.Fatal(err)
	}
	st, err := stream.Create(t.TempDir(), stream.Options{Schema: s, Capacity: 16, Durability: stream.Os})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	for i, ts := range times {
		rec := make([]byte, s.Width())
		schema.PutTime(rec, ts)
		if err := s.PutInt(rec, 0, int64(i/2)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := st.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	if seal {
		if err := st.Seal(); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	return snap
}

// TestScanAgainstNaive: any ranges, in both directions, give the records that a
// look at each of them gives, times out of order or not.
func TestScanAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for _, spread := range []int64{1, 20, 1000} {
		times := make([]int64, 203)
		for i := range times {
			times[i] = int64(i)*3 + rng.Int64N(spread)
		}
		snap := testStream(t, times, false)
		for range 300 {
			var f rangeFlags
			from, to := rng.Uint64N(220), rng.Uint64N(220)
			since, until := rng.Int64N(700), rng.Int64N(700)
			var set [4]bool
			for i := range set {
				set[i] = rng.IntN(2) == 0
			}
			if set[0] {
				f.from = flagValue[uint64]{v: from, text: "x"}
			}
			if set[1] {
				f.to = flagValue[uint64]{v: to, text: "x"}
			}
			if set[2] {
				f.since = fmt.Sprint(since)
			}
			if set[3] {
				f.until = fmt.Sprint(until)
			}
			s, err := f.scan(snap, "")
			if err != nil {
				t.Fatal(err)
			}
			s.reverse = rng.IntN(2) == 0
			var want []uint64
			for seq, ts := range times {
				if (!set[0] || uint64(seq) >= from) && (!set[1] || uint64(seq) < to) &&
					(!set[2] || ts >= since) && (!set[3] || ts < until) {
					want = append(want, uint64(seq))
				}
			}
			if s.reverse {
				slices.Reverse(want)
			}
			if got := numbers(t, s, 0); !slices.Equal(got, want) {
				t.Fatalf("%+v reverse %v: %v, want %v", f, s.reverse, got, want)
			}
		}
		if stats := snap.Stats(); stats.SegmentsRead == 0 || stats.SegmentsSkipped == 0 {
			t.Fatalf("%d segments were read and %d skipped, want some of both", stats.SegmentsRead, stats.SegmentsSkipped)
		}
	}
}

// numbers returns the records of a scan, the first limit of them if it isn't 0.
func numbers(t *testing.T, s *scan, limit int) []uint64 {
	t.Helper()
	var got []uint64
	err := s.run(t.Context(), func(g segment.Segment, at []uint32) error {
		for _, i := range at {
			got = append(got, g.First()+uint64(i))
		}
		if limit > 0 && len(got) >= limit {
			return errStop
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestScanSkips: segments are passed over by the smallest and largest value of
// any column that a condition is about.
func TestScanSkips(t *testing.T) {
	times := make([]int64, 10*16)
	for i := range times {
		times[i] = int64(i)
	}
	snap := testStream(t, times, true)
	for _, c := range []struct {
		where                  string
		records, read, skipped int
	}{
		{"n == 20", 2, 1, 9},
		{"n >= 20 && ts < 48ns", 8, 1, 9},
		{"n in [0, 79]", 4, 2, 8},
		{"n == 20 || seq == 159", 3, 2, 8},
		{"n > 79", 0, 0, 10},
		{"n >= 0", 160, 10, 0},
	} {
		s, err := (&rangeFlags{where: c.where}).scan(snap, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, reverse := range []bool{false, true} {
			s.reverse = reverse
			var passed uint64
			s.done = func(n uint64) { passed += n }
			before := snap.Stats()
			got := numbers(t, s, 0)
			after := snap.Stats()
			read, skipped := after.SegmentsRead-before.SegmentsRead, after.SegmentsSkipped-before.SegmentsSkipped
			if len(got) != c.records || int(read) != c.read || int(skipped) != c.skipped {
				t.Errorf("%s: %d records, %d segments read and %d skipped, want %+v", c.where, len(got), read, skipped, c)
			}
			if passed != uint64(len(times)) {
				t.Errorf("%s: %d records passed, want all", c.where, passed)
			}
		}
	}
}

func TestScanEnds(t *testing.T) {
	snap := testStream(t, make([]int64, 100), false)
	s, err := new(rangeFlags).scan(snap, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := numbers(t, s, 20); len(got) != 32 {
		t.Errorf("a scan that has enough after 20 records went over %d, want the two segments that hold them", len(got))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = s.run(ctx, func(segment.Segment, []uint32) error { t.Error("a cancelled scan goes on"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled scan ends with %v", err)
	}
}
