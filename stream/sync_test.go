package stream

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ledger/internal/disk/sim"
)

// syncCounts runs a script on a model disk and returns the syncs that it made,
// by what they were of: "journal", "segment", "dir", "other". Making a journal
// (its file and its name) is left out: every mode does that, off the append path.
func syncCounts(t *testing.T, mode Durability, script func(s *Stream)) map[string]int {
	t.Helper()
	d := sim.New()
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: small(t), Capacity: 4, Durability: mode}))
	// All journals are made before anything is counted.
	s.mu.Lock()
	s.ring.want = 4
	s.kickMaker()
	for s.missingJournal() >= 0 {
		s.room.Wait()
	}
	s.mu.Unlock()
	counts := make(map[string]int)
	var mu sync.Mutex
	d.SetHook(func(op sim.Op) error {
		mu.Lock()
		defer mu.Unlock()
		name := filepath.Base(op.Path)
		switch {
		case op.Kind == sim.OpSyncDir:
			counts["dir"]++
		case op.Kind != sim.OpSync && op.Kind != sim.OpDataSync:
		case strings.HasPrefix(name, "journal."):
			counts["journal"]++
		case strings.Contains(name, ".seg"):
			counts["segment"]++
		default:
			counts["other"]++
		}
		return nil
	})
	script(s)
	d.SetHook(nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return counts
}

// TestSyncCounts: what each mode syncs while it appends, rolls and seals.
func TestSyncCounts(t *testing.T) {
	sch := small(t)
	script := func(s *Stream) {
		for i := range 12 { // three segments, full and sealed
			if _, _, err := s.Append(recs(sch, i, 1)); err != nil {
				t.Error(err)
			}
		}
		s.mu.Lock()
		if err := s.drain(12); err != nil {
			t.Error(err)
		}
		s.mu.Unlock()
	}
	for _, c := range []struct {
		mode                  Durability
		journal, segment, dir int
	}{
		{Commit, 12, 3, 3}, // one for each append that waits alone; a file and its name for each seal
		{Sealed, 0, 3, 3},
		{Os, 0, 0, 0},
	} {
		got := syncCounts(t, c.mode, script)
		if got["journal"] != c.journal || got["segment"] != c.segment || got["dir"] != c.dir || got["other"] != 0 {
			t.Errorf("%v: %v, want %d of journals, %d of segments, %d of the directory", c.mode, got, c.journal, c.segment, c.dir)
		}
	}
}

// TestSyncIsShared: callers that wait at the same time share syncs, and Stats
// counts them.
func TestSyncIsShared(t *testing.T) {
	d := sim.New()
	sch := small(t)
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 1000}))
	defer s.Close()
	const callers = 16
	var arrived sync.WaitGroup
	arrived.Add(callers)
	first := true
	var mu sync.Mutex
	d.SetHook(func(op sim.Op) error {
		if op.Kind != sim.OpDataSync {
			return nil
		}
		mu.Lock()
		wait := first
		first = false
		mu.Unlock()
		if wait { // the first sync lasts until all have appended
			arrived.Wait()
		}
		return nil
	})
	var done sync.WaitGroup
	for i := range callers {
		done.Go(func() {
			first, n, err := s.AppendAsync(recs(sch, i, 1))
			arrived.Done()
			if err == nil {
				err = s.WaitDurable(t.Context(), first+Seq(n))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	st := must[Stats](t)(s.Stats())
	if st.DurableSeq != callers {
		t.Fatalf("durable below %d, want %d", st.DurableSeq, callers)
	}
	if st.Syncs > 4 {
		t.Errorf("%d callers took %d syncs, want them shared", callers, st.Syncs)
	}
}

// TestOnSync: the hook hears of every sync of a journal.
func TestOnSync(t *testing.T) {
	sch := small(t)
	heard := 0
	s := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "s"), Options{Schema: sch, OnSync: func(took time.Duration) {
		if took <= 0 {
			t.Errorf("a sync took %v", took)
		}
		heard++
	}}))
	for i := range 5 {
		if _, _, err := s.Append(recs(sch, i, 1)); err != nil {
			t.Fatal(err)
		}
	}
	st := must[Stats](t)(s.Stats())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if heard != 5 || st.Syncs != 5 {
		t.Errorf("heard of %d syncs, Stats of %d; want 5", heard, st.Syncs)
	}
}

// TestSyncOrder: before an append to a Commit stream returns, its records were
// written to a journal and that journal was synced behind the write; every name
// that a file of the stream got was synced with its directory before anything
// that depends on it was acknowledged.
func TestSyncOrder(t *testing.T) {
	d := sim.New()
	sch := small(t)
	var mu sync.Mutex
	unsynced := make(map[string]bool) // journals written since their last sync
	named := 0                        // renames since the last sync of the directory
	d.SetHook(func(op sim.Op) error {
		mu.Lock()
		defer mu.Unlock()
		name := filepath.Base(op.Path)
		switch op.Kind {
		case sim.OpWrite:
			// Marks are witnesses, and are not synced: 16 bytes.
			if strings.HasPrefix(name, "journal.") && !strings.HasSuffix(name, ".tmp") && op.Len != 16 {
				unsynced[name] = true
			}
		case sim.OpDataSync, sim.OpSync:
			delete(unsynced, name)
		case sim.OpRename:
			named++
		case sim.OpSyncDir:
			named = 0
		}
		return nil
	})
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 4}))
	mu.Lock()
	if named != 0 {
		t.Error("Create returned with a name that is not on disk")
	}
	mu.Unlock()
	acks := 0
	for i := range 40 {
		if _, _, err := s.Append(recs(sch, i, 1+i%6)); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		if len(unsynced) > 0 {
			t.Errorf("append %d was acknowledged with %v not synced", i, unsynced)
		}
		mu.Unlock()
		acks++
	}
	if acks == 0 {
		t.Fatal("nothing was acknowledged")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
