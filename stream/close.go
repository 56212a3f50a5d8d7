package stream

import (
	"errors"
	"time"
	"unsafe"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
)

// Close makes all that was appended durable, in any mode, waits for seals under
// way, marks the journal as closed, so that the next Open has nothing to
// recover, and frees the lock. Snapshots live on. After a failure of the disk
// it closes without marks and returns ErrPoisoned; closing a second time
// returns ErrClosed.
func (s *Stream) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.closed = true
	s.room.Broadcast()
	close(s.ticks.stop)
	close(s.broom.stop)
	err := s.settle()
	s.settled = true
	s.stopWork()
	s.mu.Unlock()
	<-s.ticks.done
	<-s.group.done
	<-s.ring.done
	<-s.sealer.done
	<-s.broom.done
	s.broom.using.Lock() // a Retain that was under way has ended
	defer s.broom.using.Unlock()
	s.wake.all()
	s.closeFiles()
	return errors.Join(err, s.lock.Close())
}

// settle makes everything durable, drains the sealer and leaves the closing
// mark. A segment that can't be sealed stays in its journal: that is no error.
func (s *Stream) settle() error {
	for s.fail == nil && (s.durable < s.appended || s.group.running > 0) {
		if s.group.running > 0 {
			s.idle.Wait()
			continue
		}
		s.sync()
	}
	for s.sealer.busy {
		s.idle.Wait()
	}
	s.mark(s.durable, true)
	s.group.failAll()
	return s.fail
}

// stopWork tells the goroutines in the background to end. Under mu.
func (s *Stream) stopWork() {
	s.group.stop, s.ring.stop, s.sealer.stop = true, true, true
	s.group.work.Signal()
	s.ring.maker.Signal()
	s.sealer.work.Signal()
	s.idle.Broadcast()
	s.room.Broadcast()
}

// closeFiles closes what the stream has open, but for what snapshots hold.
func (s *Stream) closeFiles() {
	for _, j := range s.ring.files {
		if j != nil {
			_ = j.Close() // nothing in it is unsynced, or the stream is poisoned
		}
	}
	if s.page != nil {
		_ = s.page.Unmap()
		s.page = nil
	}
	s.views.close()
}

// resetPage begins a session in the cursors page (step 7e).
func (s *Stream) resetPage() error {
	page, err := openCursors(s.fsys, s.dir)
	if err != nil {
		return err
	}
	s.page = page
	s.shown = (*uint64)(unsafe.Pointer(&page.Bytes()[meta.PublishedAt]))
	if err := s.showDurable(); err != nil {
		return err
	}
	s.showPublished(s.published.Load())
	return nil
}

// showDurable stores the durable cursor for other processes. Under mu. It is
// ErrFault if others have cut the page short.
func (s *Stream) showDurable() error {
	return disk.Guard(func() error {
		meta.Cursors{Generation: s.session, ID: s.id, Durable: s.durable}.Put(s.page.Bytes())
		return nil
	})
}

// showPublished stores the published number for other processes. Under mu.
func (s *Stream) showPublished(to uint64) {
	*s.shown = to // the machine is little-endian (package disk), the page aligned
}

// ticks are the syncs of SyncEvery.
type ticks struct {
	stop, done chan struct{}
}

func (s *Stream) syncEvery() {
	defer close(s.ticks.done)
	t := time.NewTicker(s.info.SyncEvery)
	defer t.Stop()
	for {
		select {
		case <-s.ticks.stop:
			return
		case <-t.C:
			if err := s.Sync(); err != nil {
				return // poisoned, as every append says, or closed
			}
		}
	}
}
