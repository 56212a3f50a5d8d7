package stream

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/ledger/internal/disk/sim"
)

// TestSyncOvertakesSeal: on an Os stream a segment is being sealed, without a
// sync, when Sync makes its records durable in their journal. The process dies
// before the sealer has synced the file after all; the next one opens the
// stream; then the power goes. Recovery must not have taken the file for a
// durable one and let the journal go. (Crash images found it.)
func TestSyncOvertakesSeal(t *testing.T) {
	d := sim.New()
	sch := small(t)
	sealing, synced := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var dead *sim.Disk
	d.SetHook(func(op sim.Op) error {
		name := filepath.Base(op.Path)
		switch {
		case op.Kind == sim.OpRename && strings.HasSuffix(name, ".seg.tmp"):
			once.Do(func() {
				close(sealing)
				<-synced
			})
		case op.Kind == sim.OpSync && strings.HasSuffix(name, ".seg") && dead == nil:
			dead = d.Kill()
		}
		return nil
	})
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 4, Durability: Os}))
	if _, _, err := s.Append(recs(sch, 1, 4)); err != nil {
		t.Fatal(err)
	}
	<-sealing
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	close(synced)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if dead == nil {
		t.Fatal("the sealer did not sync the file")
	}
	s = must[*Stream](t)(OpenOn(dead.FS(), "/s", OpenOptions{}))
	cut := dead.Cut(func(int) int { return 0 })
	_ = s.Close()
	s = must[*Stream](t)(OpenOn(cut.FS(), "/s", OpenOptions{}))
	defer s.Close()
	n := must[*Snapshot](t)(s.Snapshot())
	defer n.Close()
	if n.End() != 4 || len(all(t, n)) != 4*sch.Width() {
		t.Fatalf("after the power loss the stream ends at %d, want the 4 records that Sync returned for", n.End())
	}
}
