package stream

import (
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/journal"
	"example.com/ledger/segment"
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
// written to a journal, that journal was synced behind the write, and its name
// was synced with the directory. A segment gets its name when its bytes are on
// disk, and Create returns when its names are.
func TestSyncOrder(t *testing.T) {
	d := sim.New()
	sch := small(t)
	var mu sync.Mutex
	unsynced := make(map[string]bool) // files written since their last sync
	unnamed := make(map[string]bool)  // names given since the last sync of the directory
	used := make(map[string]bool)     // journals with frames
	var seals int
	d.SetHook(func(op sim.Op) error {
		mu.Lock()
		defer mu.Unlock()
		name := filepath.Base(op.Path)
		switch op.Kind {
		case sim.OpWrite:
			if op.Len != 16 { // marks are witnesses, and are not synced
				unsynced[name] = true
			}
			if strings.HasPrefix(name, "journal.") && !strings.HasSuffix(name, ".tmp") && op.Off >= 4096 {
				used[name] = true
			}
		case sim.OpDataSync, sim.OpSync:
			delete(unsynced, name)
		case sim.OpRename:
			to := filepath.Base(op.To)
			unnamed[to] = true
			if unsynced[name] {
				t.Errorf("%v: %s got its name before its bytes were on disk", op, to)
			}
			if strings.HasSuffix(to, ".seg") {
				seals++
			}
		case sim.OpSyncDir:
			clear(unnamed)
		}
		return nil
	})
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 4}))
	mu.Lock()
	if len(unnamed) > 0 {
		t.Errorf("Create returned with names that are not on disk: %v", unnamed)
	}
	mu.Unlock()
	for i := range 40 {
		if _, _, err := s.Append(recs(sch, i, 1+i%6)); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		for name := range used {
			if unsynced[name] || unnamed[name] {
				t.Errorf("append %d was acknowledged: %s is synced: %v, and so is its name: %v", i, name, !unsynced[name], !unnamed[name])
			}
		}
		mu.Unlock()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(used) < 2 || seals < 10 {
		t.Fatalf("%d journals were used and %d segments sealed: too few", len(used), seals)
	}
}

// TestOpenReadsLittle: Open reads the headers of segments and journals, and the
// frames of no journal whose records are all in files.
func TestOpenReadsLittle(t *testing.T) {
	d := sim.New()
	sch := small(t)
	s, err := CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 512, Durability: Sealed})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6*512/64 + 1 {
		if _, _, err := s.Append(recs(sch, i*64, 64)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var journals, segments atomic.Int64
	var frames atomic.Int32
	d.SetHook(func(op sim.Op) error {
		name := filepath.Base(op.Path)
		switch {
		case op.Kind != sim.OpRead:
		case strings.HasPrefix(name, "journal."):
			journals.Add(int64(op.Len))
			if op.Len > journal.FramesAt {
				frames.Add(1)
			}
		case strings.HasSuffix(name, ".seg"):
			segments.Add(int64(op.Len))
		}
		return nil
	})
	if s, err = OpenOn(d.FS(), "/s", OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	d.SetHook(nil)
	defer s.Close()
	if s.Report().Files != 6 || s.Report().NextSeq != 6*512+64 {
		t.Fatalf("opened with %+v", s.Report())
	}
	if n := segments.Load(); n != 6*segment.HeaderSize {
		t.Errorf("read %d bytes of 6 segments, want their headers", n)
	}
	most := journal.Size(512, sch.Width()) + journal.Ring*journal.FramesAt
	if n := journals.Load(); frames.Load() != 1 || n > most {
		t.Errorf("read %d bytes of journals, frames of %d; want those of the newest, and at most %d", n, frames.Load(), most)
	}
}
