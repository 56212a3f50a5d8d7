package stream

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/retention"
)

// TestPoison: a write to a journal, its sync, or a sync of the directory that
// fails ends appends for good, whatever later ones would say; nothing is
// acknowledged behind it; who waits is told at once; reading goes on; and the
// next Open has all that was acknowledged.
func TestPoison(t *testing.T) {
	isJournal := func(op sim.Op) bool { return strings.HasPrefix(filepath.Base(op.Path), "journal.") }
	for _, c := range []struct {
		name string
		mode Durability
		fail func(op sim.Op) bool
		do   func(s *Stream, recs []byte) error
	}{
		{"write of a frame", Commit, func(op sim.Op) bool { return op.Kind == sim.OpWrite && isJournal(op) }, nil},
		{"sync of a journal", Commit, func(op sim.Op) bool { return op.Kind == sim.OpDataSync && isJournal(op) }, nil},
		{"sync of a journal by Sync", Sealed, func(op sim.Op) bool { return op.Kind == sim.OpDataSync && isJournal(op) },
			func(s *Stream, _ []byte) error { return s.Sync() }},
		{"sync of the directory by a seal", Sealed, func(op sim.Op) bool { return op.Kind == sim.OpSyncDir },
			func(s *Stream, _ []byte) error { return s.Seal() }},
		{"sync of the directory by retention", Sealed, func(op sim.Op) bool { return op.Kind == sim.OpSyncDir },
			func(s *Stream, _ []byte) error {
				_, err := s.Retain(retention.Policy{BeforeSeq: 4}, false)
				return err
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sim.New()
			sch := small(t)
			s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 4, Durability: c.mode}))
			if _, _, err := s.Append(recs(sch, 1, 6)); err != nil {
				t.Fatal(err)
			}
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
			quiet(t, s)
			var armed, failed atomic.Bool
			armed.Store(true)
			d.SetHook(func(op sim.Op) error {
				if armed.Load() && c.fail(op) && !failed.Swap(true) {
					return syscall.EIO // once: what comes later succeeds
				}
				return nil
			})
			if c.do == nil {
				c.do = func(s *Stream, b []byte) error {
					_, _, err := s.Append(b)
					return err
				}
			} else if _, _, err := s.Append(recs(sch, 2, 1)); err != nil {
				t.Fatal(err)
			}
			before := s.Cursors().Durable
			err := c.do(s, recs(sch, 3, 2))
			if !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.EIO) {
				t.Fatalf("%v, want ErrPoisoned and its cause", err)
			}
			for range 3 { // the disk is well again: it is not believed
				if _, _, err := s.Append(recs(sch, 4, 1)); !errors.Is(err, ErrPoisoned) {
					t.Fatalf("a later append: %v, want ErrPoisoned", err)
				}
				if err := s.Sync(); !errors.Is(err, ErrPoisoned) {
					t.Fatalf("a later Sync: %v, want ErrPoisoned", err)
				}
			}
			if after := s.Cursors().Durable; after != before {
				t.Errorf("durable went from %d to %d behind a failure", before, after)
			}
			if end := s.Cursors().Appended; end > s.Cursors().Durable {
				if err := s.WaitDurable(context.Background(), end); !errors.Is(err, ErrPoisoned) {
					t.Errorf("WaitDurable: %v, want ErrPoisoned", err)
				}
			}
			n := must[*Snapshot](t)(s.Snapshot())
			if got := len(all(t, n)) / sch.Width(); uint64(got) != uint64(n.End()-n.First()) || got < 2 {
				t.Errorf("%d records are read of [%d, %d)", got, n.First(), n.End())
			}
			n.Close()
			if err := s.Close(); !errors.Is(err, ErrPoisoned) {
				t.Errorf("Close: %v, want ErrPoisoned", err)
			}
			s = must[*Stream](t)(OpenOn(d.FS(), "/s", OpenOptions{}))
			defer s.Close()
			if got := s.Cursors().Appended; got < before {
				t.Errorf("opened again it ends at %d, and %d was durable", got, before)
			}
			if _, _, err := s.Append(recs(sch, 5, 1)); err != nil {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}

// TestPoisonWakesAll: appends and waits that are under way when a sync fails are
// told at once, and none of them is acknowledged.
func TestPoisonWakesAll(t *testing.T) {
	d := sim.New()
	sch := small(t)
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 100}))
	const callers = 8
	gate := make(chan struct{})
	d.SetHook(func(op sim.Op) error {
		if op.Kind == sim.OpDataSync {
			<-gate
			return syscall.EIO
		}
		return nil
	})
	errs := make(chan error, 2*callers)
	for i := range callers {
		go func() {
			_, _, err := s.Append(recs(sch, i, 1))
			errs <- err
		}()
	}
	for s.Cursors().Appended < callers {
		runtime.Gosched() // until each has written its frame, and waits
	}
	for range callers {
		go func() { errs <- s.WaitDurable(context.Background(), callers) }()
	}
	close(gate)
	for range 2 * callers {
		if err := <-errs; !errors.Is(err, ErrPoisoned) {
			t.Errorf("%v, want ErrPoisoned", err)
		}
	}
	if err := s.Close(); !errors.Is(err, ErrPoisoned) {
		t.Errorf("Close: %v, want ErrPoisoned", err)
	}
}

// TestRetainOnFullDisk: a disk that is full to the last byte can be emptied.
func TestRetainOnFullDisk(t *testing.T) {
	d := sim.New()
	sch := small(t)
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 16}))
	for range 40 {
		if _, _, err := s.Append(recs(sch, 1, 4)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	const plenty = 1 << 30
	d.SetCapacity(plenty)
	d.SetCapacity(plenty - must[int64](t)(d.FS().Free("/s"))) // not another byte
	if f, err := d.FS().Create("/s/probe"); err != nil {
		t.Fatal(err)
	} else if _, err := f.WriteAt([]byte{1}, 0); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("the disk is not full: %v", err)
	}
	gone, err := s.Retain(retention.Policy{BeforeSeq: 100}, false)
	if err != nil || len(gone) == 0 {
		t.Fatalf("Retain on a full disk: %d segments, %v", len(gone), err)
	}
	d.SetCapacity(1 << 20)
	for i := range 20 {
		if _, _, err := s.Append(recs(sch, i, 4)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk: with no room an append fails before anything of it is written,
// and the stream goes on, without being opened again, once there is room.
func TestFullDisk(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d := sim.New()
			sch := small(t)
			s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 16, Durability: mode}))
			d.SetCapacity(18<<10 + reserveSize) // the first journals, and some segments
			var want []byte
			full := 0
			for i := 0; i < 400 && full < 3; i++ {
				b := recs(sch, i, 5)
				_, _, err := s.Append(b)
				switch {
				case err == nil:
					want = append(want, b...)
				case errors.Is(err, ErrNoSpace):
					full++
				default:
					t.Fatalf("append %d: %v, want ErrNoSpace", i, err)
				}
			}
			if full == 0 {
				t.Fatal("the disk did not fill")
			}
			n := must[*Snapshot](t)(s.Snapshot())
			if got := all(t, n); string(got) != string(want) {
				t.Fatalf("on a full disk %d records are read, want %d", len(got)/sch.Width(), len(want)/sch.Width())
			}
			n.Close()
			d.SetCapacity(10 << 20)
			for i := range 40 {
				b := recs(sch, i, 5)
				if _, _, err := s.Append(b); err != nil {
					t.Fatalf("with room again: %v", err)
				}
				want = append(want, b...)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = must[*Stream](t)(OpenOn(d.FS(), "/s", OpenOptions{}))
			defer s.Close()
			n = must[*Snapshot](t)(s.Snapshot())
			defer n.Close()
			if got := all(t, n); string(got) != string(want) {
				t.Fatalf("opened again %d records are read, want %d", len(got)/sch.Width(), len(want)/sch.Width())
			}
		})
	}
}
