package stream

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.com/ledger/retention"
	"example.com/ledger/segment"
)

// A crowd is goroutines that use one stream until its context ends. The first
// error ends it.
type crowd struct {
	begun  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	group  sync.WaitGroup
}

func newCrowd(limit time.Duration) *crowd {
	c := &crowd{begun: time.Now()}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.timer = time.AfterFunc(limit, func() { c.cancel(context.DeadlineExceeded) })
	return c
}

// add runs f again and again.
func (c *crowd) add(who string, f func() error) {
	c.group.Go(func() {
		for c.ctx.Err() == nil {
			if err := f(); err != nil && c.ctx.Err() == nil {
				c.cancel(fmt.Errorf("%s: %w", who, err))
			}
		}
	})
}

var errEnough = errors.New("enough")

func (c *crowd) join(t *testing.T) {
	t.Helper()
	c.group.Wait()
	c.timer.Stop()
	if err := context.Cause(c.ctx); !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
}

// TestBusy: writers, snapshots, tails, readers beside the writer, retention,
// seals and figures, all at once. Everybody sees whole batches in order.
func TestBusy(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			mapped := segment.Maps()
			dir := filepath.Join(t.TempDir(), "s")
			s := must[*Stream](t)(Create(dir, Options{Schema: stampSchema, Capacity: 16, Durability: mode}))
			r := must[*Reader](t)(OpenReader(dir))
			c := newCrowd(patience)
			for who, f := range map[string]func() error{
				"writer":    func() error { return busyAppend(c, s, 3) },
				"bulk":      func() error { return busyAppend(c, s, 32) },
				"snapshots": busyRead(s.Snapshot),
				"reader":    busyRead(r.Snapshot),
				"tail":      func() error { return busyTail(c, s.Tail, Seq(0)) },
				"follower":  func() error { return busyTail(c, r.Tail, Seq(0)) },
				"retention": func() error {
					_, err := s.Retain(retention.Policy{BeforeSeq: uint64(max(s.Cursors().Published, 200) - 200)}, false)
					return err
				},
				"sync": s.Sync,
				"seal": s.Seal,
				"figures": func() error {
					_, err := s.Stats()
					_, rerr := r.Stats()
					return errors.Join(err, rerr)
				},
			} {
				c.add(who, f)
			}
			c.join(t)
			n := must[*Snapshot](t)(s.Snapshot())
			if err := checkSnapshot(n); err != nil {
				t.Fatal(err)
			}
			st := must[Stats](t)(s.Stats())
			if st.Appended != uint64(st.NextSeq) || st.Rolls < 3 || st.Snapshots != 1 {
				t.Fatalf("stats are %+v", st)
			}
			if err := errors.Join(n.Close(), s.Close(), r.Close()); err != nil {
				t.Fatal(err)
			}
			if got := segment.Maps(); got != mapped {
				t.Fatalf("%d files are mapped, %d were", got, mapped)
			}
		})
	}
}

// busyAppend appends one batch; many do so at once.
func busyAppend(c *crowd, s *Stream, n int) error {
	next := s.Cursors().Appended
	if next > 20000 || next > 150 && time.Since(c.begun) > 400*time.Millisecond {
		c.cancel(errEnough)
	}
	_, _, err := s.AppendAt(next, stamped(uint64(next), n))
	if errors.Is(err, ErrSeqMismatch) { // another was faster
		return nil
	}
	return err
}

// busyRead takes a snapshot and reads it all. None ends before the one before.
func busyRead(snapshot func() (*Snapshot, error)) func() error {
	var last Seq
	return func() error {
		n, err := snapshot()
		if err != nil {
			return err
		}
		defer n.Close()
		if n.First() > n.End() || n.End() < last {
			return fmt.Errorf("the snapshot is [%d, %d), and the one before ended at %d", n.First(), n.End(), last)
		}
		last = n.End()
		return checkSnapshot(n)
	}
}
