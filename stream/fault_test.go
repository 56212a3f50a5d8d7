package stream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/retention"
)

// A fault fails one operation of a disk, the first that it picks.
type fault struct {
	name  string
	modes []Durability
	pick  func(op sim.Op) bool
	// cause makes the operation come, if an append doesn't.
	cause func(s *Stream) error
}

func isJournal(op sim.Op) bool {
	return strings.HasPrefix(filepath.Base(op.Path), "journal.") && !strings.HasSuffix(op.Path, ".tmp")
}

func syncNow(s *Stream) error { return s.Sync() }
func sealNow(s *Stream) error { return s.Seal() }
func retainNow(s *Stream) error {
	_, err := s.Retain(retention.Policy{BeforeSeq: 4}, false)
	return err
}

var faults = []fault{
	{"write to a journal", []Durability{Commit}, func(op sim.Op) bool { return op.Kind == sim.OpWrite && isJournal(op) }, nil},
	{"fdatasync of an append", []Durability{Commit}, func(op sim.Op) bool { return op.Kind == sim.OpDataSync && isJournal(op) }, nil},
	{"fdatasync of Sync", modes[1:], func(op sim.Op) bool { return op.Kind == sim.OpDataSync && isJournal(op) }, syncNow},
	{"directory at a seal", modes[:2], func(op sim.Op) bool { return op.Kind == sim.OpSyncDir }, sealNow},
	{"directory at drops.json", modes, func(op sim.Op) bool { return op.Kind == sim.OpSyncDir }, retainNow},
	{"directory at an unlink", modes, afterRemove(), retainNow},
}

// afterRemove picks the sync of the directory behind an unlinking.
func afterRemove() func(op sim.Op) bool {
	var removed atomic.Bool
	return func(op sim.Op) bool {
		if op.Kind == sim.OpRemove {
			removed.Store(true)
		}
		return op.Kind == sim.OpSyncDir && removed.CompareAndSwap(true, false)
	}
}

// quiet waits until nothing goes on in the background: all that is full is sealed,
// its journals are ready again, and those that are wanted are made.
func quiet(t testing.TB, s *Stream) {
	t.Helper()
	settle(t, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.ring
	wanted := func() bool { return s.missingJournal() >= 0 && len(r.ready) < r.want && r.err == nil }
	for s.sealer.busy || r.making || len(r.cold) > 0 || wanted() {
		s.room.Wait()
	}
}

// failFirst fails the first operation that pick picks.
func failFirst(d *sim.Disk, pick func(op sim.Op) bool, err error) (failed *atomic.Bool) {
	failed = new(atomic.Bool)
	d.SetHook(func(op sim.Op) error {
		if !failed.Load() && pick(op) && failed.CompareAndSwap(false, true) {
			return err
		}
		return nil
	})
	return failed
}

// TestFaults: after a failed write, sync, or sync of the directory nothing is
// appended and nothing acknowledged, until the stream is opened again; what was
// acknowledged is there then, after a loss of power too. Reading goes on.
func TestFaults(t *testing.T) {
	for _, f := range faults {
		for _, mode := range f.modes {
			t.Run(f.name+"/"+mode.String(), func(t *testing.T) {
				d, s := onSim(t, mode, 4)
				put(t, s, 4, 4, 1)
				quiet(t, s)
				failed := failFirst(d, f.pick, syscall.EIO)
				var err error
				if f.cause == nil {
					_, _, err = s.Append(stamped(9, 1))
				} else {
					err = f.cause(s)
				}
				if !failed.Load() {
					t.Fatalf("nothing has failed: %v", err)
				}
				if !errors.Is(err, syscall.EIO) && !errors.Is(err, ErrPoisoned) {
					t.Fatalf("the error is %v, want ErrPoisoned or its cause", err)
				}
				isPoisoned(t, s, 9)
				if err := s.Close(); !errors.Is(err, ErrPoisoned) {
					t.Fatalf("Close: %v, want ErrPoisoned", err)
				}
				d.SetHook(nil)
				rng := rand.New(rand.NewPCG(*crashSeed, 2))
				for _, keep := range []float64{0, 0.5, 1} {
					if cut := d.CutRandom(rng, keep); mode == Commit {
						recovers(t, cut, 9, fmt.Sprint("after a loss of power, keep ", keep))
					}
				}
				recovers(t, d, 9, "again")
			})
		}
	}
}

// isPoisoned checks everything that a poisoned stream of n acknowledged records
// is to say.
func isPoisoned(t *testing.T, s *Stream, n Seq) {
	t.Helper()
	bg, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	before := s.Cursors()
	for what, f := range map[string]func() error{
		"Append":      func() error { _, _, err := s.Append(stamped(uint64(n), 1)); return err },
		"AppendAt":    func() error { _, _, err := s.AppendAt(n, stamped(uint64(n), 1)); return err },
		"AppendAsync": func() error { _, _, err := s.AppendAsync(stamped(uint64(n), 9)); return err },
		"Sync":        s.Sync,
		"Seal":        s.Seal,
		"Retain":      func() error { return retainNow(s) },
	} {
		if err := f(); !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v, want ErrPoisoned and its cause", what, err)
		}
	}
	if err := s.WaitDurable(bg, before.Durable); err != nil {
		t.Errorf("WaitDurable of what is durable: %v", err)
	}
	if before.Durable < before.Appended {
		if err := s.WaitDurable(bg, before.Appended); !errors.Is(err, ErrPoisoned) {
			t.Errorf("WaitDurable: %v, want ErrPoisoned", err)
		}
	}
	if after := s.Cursors(); after != before {
		t.Errorf("the cursors were %+v, they are %+v", before, after)
	}
	if st := must[Stats](t)(s.Stats()); !st.Poisoned {
		t.Errorf("the figures don't tell: %+v", st)
	}
	v := must[*Snapshot](t)(s.Snapshot())
	defer v.Close()
	if err := checkSnapshot(v); err != nil || v.End() < n {
		t.Errorf("reading goes on up to %d: %v; want %d", v.End(), err, n)
	}
	end := v.First()
	err := followTail(s.Tail(bg, end), end, func(next Seq) bool { end = next; return true })
	if !errors.Is(err, ErrPoisoned) || end != v.End() {
		t.Errorf("the tail ends at %d with %v, want %d and ErrPoisoned", end, err, v.End())
	}
}

// recovers opens a stream again, holds it against what was acknowledged, and
// appends to it.
func recovers(t *testing.T, d *sim.Disk, acked Seq, when string) {
	t.Helper()
	s, err := OpenOn(d.FS(), "/s", OpenOptions{})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	defer s.Close()
	n := must[*Snapshot](t)(s.Snapshot())
	defer n.Close()
	if err := checkSnapshot(n); err != nil || n.End() < acked {
		t.Fatalf("%s: ends at %d, %v; want at least %d", when, n.End(), err, acked)
	}
	put(t, s, 3, 6)
	if err := s.Seal(); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
}

// TestLateSyncIsNotBelieved: all who wait for a sync that fails are told so at
// once, and those whose own sync was under way even if it says that all is well.
func TestLateSyncIsNotBelieved(t *testing.T) {
	d, s := onSim(t, Commit, 100)
	put(t, s, 1)
	begun := make(chan struct{}, 10)
	verdicts := []chan error{make(chan error), make(chan error)}
	var syncs atomic.Int32
	d.SetHook(func(op sim.Op) error {
		if op.Kind != sim.OpDataSync {
			return nil
		}
		k := syncs.Add(1) - 1
		begun <- struct{}{}
		return <-verdicts[k]
	})
	var mu sync.Mutex
	var acked []string
	var group sync.WaitGroup
	try := func(who string, f func() error) {
		group.Go(func() {
			if err := f(); !errors.Is(err, ErrPoisoned) {
				mu.Lock()
				defer mu.Unlock()
				acked = append(acked, fmt.Sprint(who, ": ", err))
			}
		})
	}
	appendOne := func() error { _, _, err := s.Append(stamped(0, 1)); return err }
	try("first", appendOne)
	await(t, begun, "the first sync")
	try("second", appendOne)
	await(t, begun, "the second sync")
	for i := range 5 {
		try(fmt.Sprint("waiter ", i), appendOne)
	}
	try("WaitDurable", func() error { return s.WaitDurable(context.Background(), 3) })
	until(t, "all to wait", func() bool { return s.waiting() == 6 })
	verdicts[0] <- syscall.EIO
	until(t, "the stream to be poisoned", func() bool { return must[Stats](t)(s.Stats()).Poisoned })
	until(t, "all to be told, not to wait for the second sync", func() bool { return s.waiting() == 0 })
	verdicts[1] <- nil
	await(t, started(group.Wait), "everybody to be answered")
	if len(acked) > 0 {
		t.Fatalf("acknowledged after the failure: %v", acked)
	}
	if c := s.Cursors(); c.Durable != 1 || c.Published != 1 {
		t.Fatalf("the cursors are %+v, want 1 durable", c)
	}
	if err := s.Close(); !errors.Is(err, ErrPoisoned) {
		t.Fatalf("Close: %v, want ErrPoisoned", err)
	}
}

// TestJournalWithoutName: a journal is made in the background. When the sync of
// its name fails the stream is poisoned, too: a second sync of the directory
// could not be believed.
func TestJournalWithoutName(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d, s := onSim(t, mode, 4)
			put(t, s, 4)
			quiet(t, s)
			failed := failFirst(d, func(op sim.Op) bool { return op.Kind == sim.OpSyncDir }, syscall.EIO)
			s.mu.Lock()
			s.ring.want = 4 // as after an append that needs more
			s.kickMaker()
			s.mu.Unlock()
			until(t, "the stream to be poisoned", func() bool { return must[Stats](t)(s.Stats()).Poisoned })
			if !failed.Load() {
				t.Fatal("nothing has failed")
			}
			isPoisoned(t, s, 4)
			_ = s.Close()
			d.SetHook(nil)
			recovers(t, d, 4, "again")
		})
	}
}

// TestPoisonedByTheSystem: a writing back that fails on the system's own account
// is told by the next sync.
func TestPoisonedByTheSystem(t *testing.T) {
	for _, mode := range modes[1:] {
		t.Run(mode.String(), func(t *testing.T) {
			d, s := onSim(t, mode, 100)
			put(t, s, 3)
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
			put(t, s, 1)
			s.mu.Lock()
			path := filepath.Join("/s", fmt.Sprint("journal.", s.live[0].j.N))
			s.mu.Unlock()
			if err := d.FailWriteback(path, syscall.EIO); err != nil {
				t.Fatal(err)
			}
			if err := s.Sync(); !errors.Is(err, ErrPoisoned) {
				t.Fatalf("Sync: %v, want ErrPoisoned", err)
			}
			isPoisoned(t, s, 4)
			if err := s.Close(); !errors.Is(err, ErrPoisoned) {
				t.Fatalf("Close: %v, want ErrPoisoned", err)
			}
			recovers(t, d, 4, "again")
		})
	}
}
