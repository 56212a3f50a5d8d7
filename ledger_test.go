package ledger

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

func TestLedger(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	l, err := Open(root, stream.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := stream.Options{Schema: shapes.FillSchema(), Capacity: 8}
	a, err := l.Create("a", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Create("a", o); !errors.Is(err, stream.ErrExists) {
		t.Errorf("second Create: %v, want ErrExists", err)
	}
	if again, err := l.Stream("a"); err != nil || again != a {
		t.Errorf("Stream of an open one: %p, %v; want %p", again, err, a)
	}
	if _, err := l.Stream("b"); !errors.Is(err, stream.ErrNotFound) {
		t.Errorf("Stream of none: %v, want ErrNotFound", err)
	}
	for _, name := range []string{"", "..", ".", "a/b", "../a", "-x", ".x", string(make([]byte, 65))} {
		if _, err := l.Create(name, o); !errors.Is(err, ErrName) {
			t.Errorf("Create(%q): %v, want ErrName", name, err)
		}
		if err := l.Remove(name); !errors.Is(err, ErrName) {
			t.Errorf("Remove(%q): %v, want ErrName", name, err)
		}
	}
	if _, err := l.Create("b.2", o); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "other"), 0o750); err != nil {
		t.Fatal(err)
	}
	names, err := l.List()
	if err != nil || !slices.Equal(names, []string{"a", "b.2"}) {
		t.Fatalf("List = %v, %v; want a and b.2", names, err)
	}
	if err := l.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("after Remove: %v, want no directory", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second Close: %v, want ErrClosed", err)
	}
	if _, err := l.Stream("b.2"); !errors.Is(err, ErrClosed) {
		t.Errorf("Stream after Close: %v, want ErrClosed", err)
	}
}

// TestManyStreams: dozens of streams are open at once, written and read.
func TestManyStreams(t *testing.T) {
	l, err := Open(t.TempDir(), stream.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const streams = 60
	o := stream.Options{Schema: shapes.FillSchema(), Capacity: 4, Durability: stream.Os}
	rec := make([]byte, 40)
	for i := range streams {
		s, err := l.Create(fmt.Sprint("sym", i), o)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if _, _, err := s.Append(rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range streams {
		s, err := l.Stream(fmt.Sprint("sym", i))
		if err != nil || s.Cursors().Published != 6 {
			t.Fatalf("stream %d: %v, %+v", i, err, s.Cursors())
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTape: the tape is what sorting by time gives, where each stream's own
// times don't go back, and keeps each stream's order where they do.
func TestTape(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sch := shapes.FillSchema()
	type key struct {
		time   int64
		stream int
		seq    stream.Seq
	}
	for _, sorted := range []bool{true, false} {
		var snaps []*stream.Snapshot
		var want []key
		for i := range 4 {
			s, err := stream.Create(filepath.Join(t.TempDir(), "s"), stream.Options{Schema: sch, Capacity: 100, Durability: stream.Os})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			now := int64(0)
			for seq := range rng.IntN(2000) {
				if now += rng.Int64N(3); !sorted {
					now = rng.Int64N(100)
				}
				rec := make([]byte, sch.Width())
				schema.PutTime(rec, now)
				if _, _, err := s.Append(rec); err != nil {
					t.Fatal(err)
				}
				want = append(want, key{now, i, stream.Seq(seq)})
			}
			if i == 1 { // one that has lost its beginning
				if err := s.Seal(); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Retain(retention.Policy{BeforeSeq: 150}, false); err != nil {
					t.Fatal(err)
				}
				want = slices.DeleteFunc(want, func(k key) bool { return k.stream == 1 && k.seq < 100 })
			}
			n, err := s.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			snaps = append(snaps, n)
		}
		var got []key
		for e, err := range Tape(snaps...) {
			if err != nil {
				t.Fatal(err)
			}
			if schema.Time(e.Record) != e.Time || stream.Seq(schema.Seq(e.Record)) != e.Seq {
				t.Fatalf("entry %+v doesn't fit its record", e)
			}
			got = append(got, key{e.Time, e.Stream, e.Seq})
		}
		if !sorted { // each stream's own order, and all of it
			slices.SortStableFunc(got, func(a, b key) int { return a.stream - b.stream })
			if !slices.Equal(got, want) {
				t.Fatal("a stream's records are not in its own order, or not all there")
			}
			continue
		}
		slices.SortStableFunc(want, func(a, b key) int {
			if a.time != b.time {
				return int(a.time - b.time)
			}
			return a.stream - b.stream
		})
		if !slices.Equal(got, want) {
			t.Fatal("the tape is not in the order of time")
		}
	}
}
