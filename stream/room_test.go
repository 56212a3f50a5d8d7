package stream

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ledger/internal/disk/sim"
)

// blockSeals makes a disk on which no segment can be sealed until the returned
// function is called.
func blockSeals(d *sim.Disk) (release func()) {
	gate := make(chan struct{})
	var open atomic.Bool
	d.SetHook(func(op sim.Op) error {
		name := filepath.Base(op.Path)
		if op.Kind == sim.OpRename && !open.Load() && ownTmp(name) && name[0] == '0' {
			<-gate
		}
		return nil
	})
	return func() {
		open.Store(true)
		close(gate)
	}
}

// TestRoomWait: with all journals in use an append waits, fails at once, or
// fails after a while, as its opener chose, and works again when there is room.
func TestRoomWait(t *testing.T) {
	sch := small(t)
	for _, c := range []struct {
		name string
		wait time.Duration
	}{{"not at all", -1}, {"for 5ms", 5 * time.Millisecond}, {"as long as it takes", 0}} {
		t.Run(c.name, func(t *testing.T) {
			d := sim.New()
			release := blockSeals(d)
			s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 4, Durability: Os, RoomWait: c.wait}))
			appended, full := 0, false
			done := make(chan error, 1)
			for !full {
				s.mu.Lock()
				waits := s.counts.waits
				s.mu.Unlock()
				go func() {
					_, _, err := s.Append(recs(sch, appended, 4))
					done <- err
				}()
				if appended == 16 && c.wait == 0 {
					for waiting := false; !waiting; runtime.Gosched() {
						s.mu.Lock()
						waiting = s.counts.waits > waits
						s.mu.Unlock()
					}
					break
				}
				err := <-done
				if errors.Is(err, ErrBusy) {
					// Journals are made in the background: only with all of them in
					// use is it the sealer that is waited for.
					s.mu.Lock()
					full = s.missingJournal() < 0 && !s.ring.making && len(s.ring.ready) == 0
					s.mu.Unlock()
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				appended += 4
			}
			if appended != 16 {
				t.Errorf("%d records fitted into four journals of 4", appended)
			}
			release()
			var err error
			if c.wait == 0 {
				err = <-done
			} else {
				for err = ErrBusy; errors.Is(err, ErrBusy); { // until the first is sealed
					_, _, err = s.Append(recs(sch, 1, 4))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Cursors().Appended; got != 20 {
				t.Errorf("%d records, want 20", got)
			}
			if st := must[Stats](t)(s.Stats()); st.Waits == 0 {
				t.Error("no wait was counted")
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
