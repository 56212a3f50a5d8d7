package stream

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/retention"
	"example.com/ledger/segment"
)

// onSim makes a stream of stamped records on a model disk.
func onSim(t testing.TB, mode Durability, capacity int) (*sim.Disk, *Stream) {
	t.Helper()
	d := sim.New()
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: stampSchema, Capacity: capacity, Durability: mode}))
	return d, s
}

// put appends stamped batches of these sizes.
func put(t testing.TB, s *Stream, sizes ...int) {
	t.Helper()
	for _, n := range sizes {
		next := s.Cursors().Appended
		if _, _, err := s.AppendAt(next, stamped(uint64(next), n)); err != nil {
			t.Fatal(err)
		}
	}
}

// pooled tells whether the rows that begin at p have come back to the pool, or
// are in use by another segment.
func (s *Stream) pooled(p *byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring.buffers.mu.Lock()
	defer s.ring.buffers.mu.Unlock()
	var all [][]byte
	all = append(all, s.ring.buffers.free...)
	for _, m := range s.ring.ready {
		all = append(all, m.rows)
	}
	for _, m := range s.live {
		all = append(all, m.rows)
	}
	for _, rows := range all {
		if unsafe.SliceData(rows) == p {
			return true
		}
	}
	return false
}

// TestSnapshotKeepsBuffer: rows that a snapshot shows are not used again before
// the last such snapshot is closed, whatever becomes of their segment.
func TestSnapshotKeepsBuffer(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			_, s := onSim(t, mode, 4)
			defer s.Close()
			put(t, s, 2, 1)
			n := must[*Snapshot](t)(s.Snapshot())
			other := must[*Snapshot](t)(s.Snapshot())
			rows := unsafe.SliceData(n.v.mems[0].rows)
			put(t, s, 1, 3, 4, 4, 8, 8, 1, 7) // the ring goes round more than once
			quiet(t, s)                       // nobody has rows in hand
			if s.pooled(rows) {
				t.Fatal("rows that snapshots show are in use again")
			}
			if err := checkSnapshot(n); err != nil || n.End() != 3 {
				t.Fatalf("the snapshot of 3 records ends at %d: %v", n.End(), err)
			}
			n.Close()
			if s.pooled(rows) {
				t.Fatal("rows that the second snapshot shows are in use again")
			}
			if err := checkSnapshot(other); err != nil {
				t.Fatal(err)
			}
			other.Close()
			if !s.pooled(rows) {
				t.Fatal("the last snapshot didn't give the rows back")
			}
			if st := must[Stats](t)(s.Stats()); st.Snapshots != 0 {
				t.Fatalf("%d snapshots are open, want none", st.Snapshots)
			}
		})
	}
}

// TestSnapshotKeepsFile: retention unlinks a file when the last snapshot that
// shows it is closed, and at once if there is none.
func TestSnapshotKeepsFile(t *testing.T) {
	d, s := onSim(t, Sealed, 4)
	defer s.Close()
	put(t, s, 8)
	settle(t, s)
	one := must[*Snapshot](t)(s.Snapshot())
	two := must[*Snapshot](t)(s.Snapshot())
	put(t, s, 4)
	quiet(t, s) // from here on the sweeper alone works in the background
	if got := must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 12}, false)); len(got) != 3 {
		t.Fatalf("dropped %v, want 3 segments", got)
	}
	there := func(first uint64) bool {
		_, err := d.FS().Stat(filepath.Join("/s", segment.Name(first)))
		return err == nil
	}
	if !there(0) || !there(4) || there(8) {
		t.Fatalf("files 0, 4 and 8 are there: %v, %v, %v; snapshots show the first two", there(0), there(4), there(8))
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if !there(0) || !there(4) {
		t.Fatal("a file is gone that the second snapshot shows")
	}
	if err := checkSnapshot(two); err != nil { // maps them now
		t.Fatal(err)
	}
	unlinked := make(chan struct{})
	removed := 0
	d.SetHook(func(op sim.Op) error { // of the sweeper alone
		switch {
		case op.Kind == sim.OpRemove:
			removed++
		case op.Kind == sim.OpSyncDir && removed == 2:
			close(unlinked)
		}
		return nil
	})
	two.Close()
	await(t, unlinked, "the files to be unlinked")
	d.SetHook(nil)
	if there(0) || there(4) {
		t.Fatal("the last snapshot is closed, and its files are still there")
	}
	if err := two.Close(); !errors.Is(err, ErrClosed) {
		t.Fatalf("second Close: %v, want ErrClosed", err)
	}
}

// patience is how long tests wait for what must happen, on the slowest machine: who
// waits longer waits in vain.
const patience = 5 * time.Minute

func await(t testing.TB, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("waited in vain for %s\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}

// until waits until cond holds, of something that tells nobody when it changes.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestSnapshotOutlivesStream: after Close snapshots read what they did, and when
// the last one is closed no file stays mapped.
func TestSnapshotOutlivesStream(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			mapped := segment.Maps()
			s := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "s"), Options{Schema: stampSchema, Capacity: 4, Durability: mode}))
			put(t, s, 3, 5, 3)
			settle(t, s)
			old := must[*Snapshot](t)(s.Snapshot())
			before := all(t, old)
			if _, err := s.Retain(retention.Policy{BeforeSeq: 4}, false); err != nil {
				t.Fatal(err)
			}
			put(t, s, 6)
			settle(t, s)
			young := must[*Snapshot](t)(s.Snapshot())
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := all(t, old); !bytes.Equal(got, before) {
				t.Fatalf("after Close the snapshot has %x, it had %x", got, before)
			}
			if err := checkSnapshot(young); err != nil {
				t.Fatal(err)
			}
			old.Close()
			if err := checkSnapshot(young); err != nil {
				t.Fatal(err)
			}
			young.Close()
			if got := segment.Maps(); got != mapped {
				t.Fatalf("%d files are mapped, %d were", got, mapped)
			}
			if _, err := young.Get(nil, 5); !errors.Is(err, ErrClosed) {
				t.Fatalf("Get after Close: %v, want ErrClosed", err)
			}
			for _, err := range young.Range(0, 5) {
				if !errors.Is(err, ErrClosed) {
					t.Fatalf("Range after Close: %v, want ErrClosed", err)
				}
			}
		})
	}
}

// TestSnapshotLeak: a snapshot that is forgotten is found and given back.
func TestSnapshotLeak(t *testing.T) {
	told := make(chan Event, 1)
	s := must[*Stream](t)(CreateOn(sim.New().FS(), "/s", Options{Schema: stampSchema, Capacity: 4, Durability: Sealed,
		OnEvent: func(v Event) {
			if v.Kind == EventLeaked {
				told <- v
			}
		}}))
	defer s.Close()
	put(t, s, 2)
	before := must[Stats](t)(s.Stats()).Leaked
	rows := forget(t, s)
	put(t, s, 2, 2)
	quiet(t, s)
	until(t, "the leaked snapshot to be found", func() bool {
		runtime.GC()
		return must[Stats](t)(s.Stats()).Leaked > before
	})
	if st := must[Stats](t)(s.Stats()); st.Leaked != before+1 || st.Snapshots != 0 {
		t.Fatalf("%d leaked and %d open snapshots; want %d and none", st.Leaked, st.Snapshots, before+1)
	}
	if !s.pooled(rows) {
		t.Fatal("what the leaked snapshot held was not given back")
	}
	select {
	case v := <-told:
		if v.Dir != "/s" {
			t.Fatalf("the event is %+v", v)
		}
	case <-time.After(patience):
		t.Fatal("no event tells of the leak")
	}
}

//go:noinline
func forget(t *testing.T, s *Stream) *byte {
	n := must[*Snapshot](t)(s.Snapshot())
	return unsafe.SliceData(n.v.mems[0].rows)
}

// TestSnapshotOvertaken: between the two loads that make a snapshot, appends,
// seals and retention may go by. It is empty then, not upside down.
func TestSnapshotOvertaken(t *testing.T) {
	_, s := onSim(t, Sealed, 4)
	defer s.Close()
	put(t, s, 8, 4)
	settle(t, s)
	must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 8}, false))
	n := newSnapshot(s.views.acquire(), s.schema, 2, &s.gone) // published was 2
	defer n.Close()
	if n.First() != 2 || n.End() != 2 {
		t.Fatalf("the snapshot is [%d, %d), want [2, 2)", n.First(), n.End())
	}
	segs := must[[]SegmentInfo](t)(n.Segments())
	if len(segs) != 0 {
		t.Fatalf("segments are %v, want none", segs)
	}
	for _, err := range n.Range(0, n.End()) {
		if gone, ok := errors.AsType[*DroppedError](err); !ok || gone.From != 0 {
			t.Fatalf("record 0: %v, want that it is dropped", err)
		}
	}
}

// TestLocate: the file of a number is found by its place where all have the same
// size, and by a search where they don't, above and below all of them, too.
func TestLocate(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var files []sealed
		at := rng.Uint64N(20)
		for range rng.IntN(12) {
			size := uint64(4)
			if seed%2 == 1 {
				size = 1 + rng.Uint64N(9)
				at += rng.Uint64N(3) * rng.Uint64N(5) // a gap
			}
			files = append(files, sealed{first: at, end: at + size})
			at += size
		}
		for seq := range at + 8 {
			want := 0
			for want < len(files) && files[want].end <= seq {
				want++
			}
			if got := locate(files, seq); got != want {
				t.Fatalf("seed %d: record %d of %v: file %d, want %d", seed, seq, files, got, want)
			}
		}
	}
	if got := locate([]sealed{{first: 1 << 63, end: 1<<63 + 4}}, 1<<64-1); got != 1 {
		t.Fatalf("behind all: %d", got)
	}
}
