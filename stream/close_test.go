package stream

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/meta"
	"example.com/ledger/retention"
)

// started runs f and returns a channel that is closed when it has returned.
func started(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

// TestCloseWaitsForRetain: nothing of a stream is changed after its lock is free.
func TestCloseWaitsForRetain(t *testing.T) {
	d, s := onSim(t, Sealed, 4)
	put(t, s, 8)
	settle(t, s)
	at, goOn, unlocked := make(chan struct{}), make(chan struct{}), make(chan struct{})
	d.SetHook(func(op sim.Op) error {
		switch {
		case op.Kind == sim.OpCreate && strings.HasSuffix(op.Path, meta.DropsFile+".tmp"):
			close(at)
			<-goOn
		case op.Kind == sim.OpUnlock:
			close(unlocked)
		}
		return nil
	})
	var dropped []retention.Dropped
	var err, cerr error
	retained := started(func() { dropped, err = s.Retain(retention.Policy{BeforeSeq: 8}, false) })
	await(t, at, "Retain to write drops.json")
	closed := started(func() { cerr = s.Close() })
	await(t, s.broom.done, "Close to stop the background")
	select {
	case <-unlocked:
		t.Error("the lock is free, and Retain goes on")
	case <-time.After(20 * time.Millisecond): // it was not freed while it could be
	}
	close(goOn)
	await(t, retained, "Retain")
	await(t, closed, "Close")
	if err != nil || cerr != nil || len(dropped) != 2 {
		t.Fatalf("Retain = %v, %v; Close: %v", dropped, err, cerr)
	}
	if _, err := s.Retain(retention.Policy{BeforeSeq: 8}, false); !errors.Is(err, ErrClosed) {
		t.Fatalf("Retain after Close: %v, want ErrClosed", err)
	}
}

// slowSyncs makes each fdatasync say that it has begun, and wait for a token.
func slowSyncs(d *sim.Disk) (begun, tokens chan struct{}) {
	begun, tokens = make(chan struct{}, 100), make(chan struct{})
	d.SetHook(func(op sim.Op) error {
		if op.Kind == sim.OpDataSync {
			begun <- struct{}{}
			<-tokens
		}
		return nil
	})
	return begun, tokens
}

// waiting returns how many callers wait for a sync.
func (s *Stream) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.group.waiters)
}

// TestWaitDurableEnds: the end of its context ends a wait, however slow the disk
// is and whoever syncs.
func TestWaitDurableEnds(t *testing.T) {
	d, s := onSim(t, Commit, 100)
	begun, tokens := slowSyncs(d)
	var appendErr error
	appended := started(func() { _, _, appendErr = s.Append(stamped(0, 1)) })
	await(t, begun, "the first sync")
	if _, _, err := s.AppendAsync(stamped(1, 1)); err != nil {
		t.Fatal(err)
	}
	await(t, begun, "the second sync")
	if _, _, err := s.AppendAsync(stamped(2, 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	waited := started(func() { err = s.WaitDurable(ctx, 3) })
	until(t, "WaitDurable to wait", func() bool { return s.waiting() > 0 })
	tokens <- struct{}{} // both end, and somebody is to sync the third record
	tokens <- struct{}{}
	await(t, begun, "the third sync")
	cancel()
	await(t, waited, "WaitDurable to see the end of its context")
	if err != nil && !errors.Is(err, context.Canceled) { // the third sync may have had a token
		t.Fatalf("WaitDurable: %v, want the context's error", err)
	}
	close(tokens)
	await(t, appended, "Append")
	if err := s.WaitDurable(context.Background(), 3); err != nil || appendErr != nil {
		t.Fatalf("WaitDurable: %v, Append: %v", err, appendErr)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCloseEndsWaits: Close makes all durable that was appended, and whoever
// waits is answered: those whose records are durable with nil.
func TestCloseEndsWaits(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d, s := onSim(t, mode, 100)
			put(t, s, 1)
			if _, _, err := s.AppendAsync(stamped(1, 2)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			got := 0
			var err, tailErr error
			tailed := started(func() {
				for b, err := range s.Tail(ctx, 0) {
					got += b.Len()
					tailErr = err
				}
			})
			waited := started(func() { err = s.WaitDurable(ctx, 3) })
			until(t, "WaitDurable to wait", func() bool { return mode != Sealed || s.waiting() > 0 })
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			await(t, waited, "WaitDurable")
			await(t, tailed, "Tail")
			// In other modes than Sealed it may have come before Close, or too late.
			if err != nil && (mode == Sealed || !errors.Is(err, ErrClosed) && !(mode == Os && errors.Is(err, ErrNotDurable))) {
				t.Fatalf("WaitDurable: %v", err)
			}
			if got != 3 || !errors.Is(tailErr, ErrClosed) {
				t.Fatalf("the tail has %d records and ends with %v; want 3 and ErrClosed", got, tailErr)
			}
			again := must[*Stream](t)(OpenOn(d.FS(), "/s", OpenOptions{}))
			defer again.Close()
			if r := again.Report(); !r.Clean || r.NextSeq != 3 || r.DurableSeq != 3 {
				t.Fatalf("opened again: %+v", r)
			}
		})
	}
}

// TestCloseLeavesNothing: no goroutine of a stream outlives its Close, whether
// its disk is well or not, nor one of an Open that failed.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := range 20 {
		d, s := onSim(t, modes[i%3], 4)
		put(t, s, 3, 8)
		if i%2 == 0 {
			d.Crash()
		}
		_ = s.Close()
		if i%2 == 0 {
			if _, err := OpenOn(d.FS(), "/s", OpenOptions{}); err == nil {
				t.Fatal("a stream on a dead disk was opened")
			}
		}
	}
	until(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}
