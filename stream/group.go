package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"example.com/ledger/internal/journal"
	"example.com/ledger/segment"
)

// overlap is how many syncs of a Commit stream may run at once. One that runs
// gathers the batches of those that come meanwhile; a second one lets these go
// to the disk before it returns, where the device can.
const overlap = 2

// A group is the callers that wait for records to become durable. Whoever
// finds no sync under way that covers its records leads one for all. Under Stream.mu.
type group struct {
	running int    // syncs under way
	target  uint64 // records below are covered by a sync that ended or is under way
	waiters []*waiter
	asked   bool       // appends without a waiter want a sync
	work    *sync.Cond // on Stream.mu: asked, or stop
	stop    bool
	done    chan struct{} // closed when the syncer ended
}

type verdict int

const (
	durable verdict = iota // the records are on disk, or the stream failed: look again
	lead                   // nobody syncs for you: do it yourself
)

type waiter struct {
	end   uint64
	leads bool // may be told to lead
	ch    chan verdict
}

var waiterPool = sync.Pool{New: func() any { return &waiter{ch: make(chan verdict, 1)} }}

// wake ends the wait of those whose records are below to.
func (g *group) wake(to uint64) {
	g.waiters = slices.DeleteFunc(g.waiters, func(w *waiter) bool {
		if w.end > to {
			return false
		}
		w.ch <- durable
		return true
	})
}

// failAll ends every wait.
func (g *group) failAll() {
	for _, w := range g.waiters {
		w.ch <- durable
	}
	g.waiters = g.waiters[:0]
	g.work.Signal()
}

// promote makes the first one that no sync covers lead the next.
func (g *group) promote() {
	if g.running >= overlap {
		return
	}
	for i, w := range g.waiters {
		if w.leads && w.end > g.target {
			g.waiters = slices.Delete(g.waiters, i, i+1)
			w.ch <- lead
			return
		}
	}
}

// ask makes the syncer sync what was appended without waiting.
func (g *group) ask() {
	if !g.asked {
		g.asked = true
		g.work.Signal()
	}
}

// await waits until the records below end are on disk, and syncs them itself
// if nobody else does. It is called under mu and returns without it.
func (s *Stream) await(end uint64) error {
	for {
		switch {
		case s.durable >= end:
			s.mu.Unlock()
			return nil
		case s.fail != nil:
			err := s.fail
			s.mu.Unlock()
			return err
		case s.group.target < end && s.group.running < overlap:
			s.sync()
		default:
			w := waiterPool.Get().(*waiter)
			w.end, w.leads = end, true
			s.group.waiters = append(s.group.waiters, w)
			s.mu.Unlock()
			<-w.ch
			waiterPool.Put(w)
			if s.durableNow.Load() >= end {
				return nil
			}
			s.mu.Lock()
		}
	}
}

// sync makes all that is appended durable. Under mu, which it gives up while
// the disk works. A failure poisons the stream.
func (s *Stream) sync() {
	g := &s.group
	target := s.appended
	var js [journal.Ring]*journal.Journal
	var ms [journal.Ring]*memory
	n := 0
	for _, m := range s.live {
		// One that has only just begun needs none: the first sync of a frame
		// covers its header.
		if m.n > 0 && m.synced < m.end() {
			js[n], ms[n] = m.j, m
			n++
		}
	}
	var ends [journal.Ring]uint64
	for i := range n {
		ends[i] = ms[i].end()
	}
	loose := slices.Clone(s.loose)
	g.running++
	g.target = max(g.target, target)
	s.mu.Unlock()

	err := s.syncFiles(loose)
	for i := 0; i < n && err == nil; i++ {
		err = s.timed(js[i].Sync)
	}

	s.mu.Lock()
	s.counts.syncs += uint64(n)
	for err == nil {
		// Files that were sealed meanwhile without a sync hold records whose
		// journal may be in use again: they need one, too.
		more := slices.DeleteFunc(slices.Clone(s.loose), func(f *segment.File) bool {
			return f.Header().First >= target || slices.Contains(loose, f)
		})
		if len(more) == 0 {
			break
		}
		s.mu.Unlock()
		err = s.syncFiles(more)
		s.mu.Lock()
		loose = append(loose, more...)
	}
	g.running--
	switch {
	case err != nil:
		s.poison(fmt.Errorf("sync: %w", err))
	case s.fail == nil:
		for i := range n {
			ms[i].synced = max(ms[i].synced, ends[i])
		}
		s.loose = slices.DeleteFunc(s.loose, func(f *segment.File) bool { return slices.Contains(loose, f) })
		if s.appended == target && g.running == 0 {
			s.mark(max(target, s.durable), false)
		}
		if s.fail == nil {
			s.advance(target)
		}
		s.kickSealer()
	}
	g.promote()
	if g.asked {
		g.work.Signal()
	}
	s.idle.Broadcast()
}

// timed makes a sync and tells how long it took to who wants to know.
func (s *Stream) timed(sync func() error) error {
	if s.onSync == nil {
		return sync()
	}
	began := time.Now()
	err := sync()
	s.onSync(time.Since(began))
	return err
}

// mark leaves a witness of what is durable behind the last frame. Under mu.
func (s *Stream) mark(durable uint64, closing bool) {
	if len(s.live) == 0 || s.fail != nil {
		return
	}
	if err := s.live[len(s.live)-1].j.Mark(closing, durable); err != nil {
		s.poison(err)
	}
}

// syncFiles syncs sealed files that were written without, and their names.
func (s *Stream) syncFiles(files []*segment.File) error {
	if len(files) == 0 {
		return nil
	}
	for _, f := range files {
		err := s.syncFile(f.Path())
		if errors.Is(err, fs.ErrNotExist) {
			// Retention may have taken it meanwhile.
			if _, dropped := errors.AsType[*DroppedError](s.gone.of(f.Header())); dropped {
				continue
			}
		}
		if err != nil {
			return err
		}
	}
	return s.fsys.SyncDir(s.dir)
}

func (s *Stream) syncFile(path string) error {
	f, err := s.fsys.OpenRW(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

// syncer syncs for appends that don't wait.
func (s *Stream) syncer() {
	defer close(s.group.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &s.group
	for {
		for !g.stop && (!g.asked || s.fail != nil || g.running >= overlap) {
			g.work.Wait()
		}
		if g.stop {
			return
		}
		g.asked = false
		if s.durable < s.appended && g.target < s.appended {
			s.sync()
		}
	}
}

// WaitDurable returns nil when all records below end are on disk. On a Commit
// stream a sync is under way for what was appended; on a Sealed stream it waits
// for a seal, SyncEvery or a Sync; on an Os stream without SyncEvery it fails
// at once with ErrNotDurable, unless they are durable already.
//
// When ctx ends first, the records' fate is unknown, not failed. It fails at
// once with ErrPoisoned or ErrClosed, and with ErrRange for records that are
// not appended.
func (s *Stream) WaitDurable(ctx context.Context, end Seq) error {
	if s.durableNow.Load() >= uint64(end) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	switch {
	case s.durable >= uint64(end):
		s.mu.Unlock()
		return nil
	case uint64(end) > s.appended:
		next := s.appended
		s.mu.Unlock()
		return fmt.Errorf("%w: record %d is not appended: the next is %d", ErrRange, end-1, next)
	case s.fail != nil || s.closed:
		err := s.usable()
		s.mu.Unlock()
		return err
	case s.info.Durability == Os && s.info.SyncEvery == 0:
		s.mu.Unlock()
		return ErrNotDurable
	}
	if s.commit {
		s.group.ask()
	}
	// It doesn't lead: who syncs can't watch a context. The syncer was asked.
	w := &waiter{end: uint64(end), ch: make(chan verdict, 1)}
	s.group.waiters = append(s.group.waiters, w)
	s.mu.Unlock()
	select {
	case <-w.ch:
		return s.verdict(uint64(end))
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.group.waiters = slices.DeleteFunc(s.group.waiters, func(x *waiter) bool { return x == w })
	s.mu.Unlock()
	select {
	case <-w.ch:
		return s.verdict(uint64(end))
	default:
		return ctx.Err()
	}
}

// verdict turns the end of a wait into its error.
func (s *Stream) verdict(end uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.durable >= end {
		return nil
	}
	return s.usable()
}

// Sync makes all that was appended before the call durable, in any mode. It
// returns at once if it is. Its error is ErrPoisoned if the disk failed, or ErrClosed.
func (s *Stream) Sync() error {
	s.mu.Lock()
	if err := s.usable(); err != nil {
		s.mu.Unlock()
		return err
	}
	return s.await(s.appended)
}
