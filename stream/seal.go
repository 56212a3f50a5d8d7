package stream

import (
	"path/filepath"
	"sync"

	"example.com/ledger/internal/disk"
	"example.com/ledger/segment"
)

// A sealer turns full segments in memory into files, one at a time and in
// order. Under Stream.mu.
type sealer struct {
	work    *sync.Cond // on Stream.mu: something to seal, or stop
	busy    bool       // at work, or about to be
	err     error      // of the last try; a kick clears it
	encoder encoder    // not under mu
	stop    bool
	done    chan struct{} // closed when the sealer ended
}

// sealable is the oldest segment if it can be sealed now, or nil. Commit
// segments wait until they are durable, so that readers of files see nothing else.
func (s *Stream) sealable() *memory {
	if len(s.live) == 0 || s.fail != nil {
		return nil
	}
	m := s.live[0]
	if !m.ended || s.commit && m.end() > s.durable {
		return nil
	}
	return m
}

// kickSealer sets the sealer to work if there is some, unless its last try
// failed and nobody needs another. Under mu.
func (s *Stream) kickSealer() {
	if s.sealable() != nil && s.sealer.err == nil && !s.sealer.stop {
		s.sealer.busy = true
		s.sealer.work.Signal()
	}
}

// sealSegments is the sealer's goroutine.
func (s *Stream) sealSegments() {
	defer close(s.sealer.done)
	defer s.sealer.encoder.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		m := s.sealable()
		if m == nil || s.sealer.err != nil || s.sealer.stop {
			s.sealer.busy = false
			s.room.Broadcast()
			s.idle.Broadcast()
			if s.sealer.stop {
				return
			}
			s.sealer.work.Wait()
			continue
		}
		s.sealer.busy = true
		if err := s.seal(m); err != nil {
			s.sealer.err = err
			s.counts.sealErrors++
			s.tell(Event{Kind: EventSealLag, From: Seq(m.first), To: Seq(m.end()), Err: err})
			continue
		}
		s.applyPolicy()
	}
}

// seal writes one segment's file and puts it in the place of its memory. Under
// mu, which it gives up while it writes. A failed sync of the directory poisons.
func (s *Stream) seal(m *memory) error {
	synced := s.info.Durability != Os || s.info.SyncEvery > 0 || s.needed(m)
	var flags uint32
	if synced && s.durable >= m.first {
		flags = segment.FlagDurable
	}
	rows := m.rows[:m.n*s.width]
	var next []byte // of the segment behind it, if it is full, too
	if len(s.live) > 1 && s.live[1].ended {
		next = s.live[1].rows[:s.live[1].n*s.width]
	}
	s.mu.Unlock()
	f, dirErr, err := s.writeSegment(rows, next, flags, synced)
	s.mu.Lock()
	if dirErr == nil && err == nil && !synced && s.needed(m) {
		// A Sync has promised these records meanwhile: their journal may go
		// only when the file is on disk.
		s.mu.Unlock()
		dirErr = s.syncFiles([]*segment.File{f})
		s.mu.Lock()
		synced = true
	}
	if dirErr != nil {
		s.poison(dirErr)
		return dirErr
	}
	if err != nil {
		return err
	}
	s.replace(m, f, synced)
	return nil
}

// needed tells whether m holds records that are durable, or about to be.
func (s *Stream) needed(m *memory) bool {
	return m.first < s.durable || s.group.running > 0 && m.first < s.group.target
}

// writeSegment encodes rows and gives them their name; next, unless it is nil, is
// what the next call will be for. dirErr is the error of a directory's or a named
// file's sync, which is final; err can be tried again.
func (s *Stream) writeSegment(rows, next []byte, flags uint32, sync bool) (f *segment.File, dirErr, err error) {
	m := segment.Meta{ID: s.id, Capacity: uint32(s.info.Capacity), Schema: s.schema}
	e := s.sealer.encoder.get(m, s.info.Layout, rows, next)
	if e.err != nil {
		return nil, nil, e.err
	}
	e.stamp(s.now().UnixMilli(), flags)
	path := filepath.Join(s.dir, segment.Name(e.header.First))
	tmp := path + ".tmp"
	if err := disk.Make(s.fsys, tmp, sync, disk.Content(e.image)); err != nil {
		return nil, nil, err
	}
	if err := s.fsys.Rename(tmp, path); err != nil {
		_ = s.fsys.Remove(tmp)
		return nil, nil, err
	}
	if sync {
		if err := s.fsys.SyncDir(s.dir); err != nil {
			return nil, err, nil
		}
	}
	f, err = segment.Open(s.fsys, path, s.schema, s.tag)
	return f, nil, err
}

// replace puts a file in the place of the memory that it was made from, and
// frees the journal. Under mu, which it gives up to allocate.
func (s *Stream) replace(m *memory, f *segment.File, synced bool) {
	s.counts.seals++
	s.live = append(s.live[:0], s.live[1:]...)
	rows, born := m.rows, m.born
	s.show(append(s.views.files(), newSealed(f, s.views.next())),
		retired{born: born, free: func() { s.ring.buffers.put(rows) }})
	switch {
	case !synced:
		s.loose = append(s.loose, f)
	case s.durable >= m.first:
		s.advance(m.end())
	}
	j := m.j
	s.mu.Unlock()
	j.Touch()
	free := s.newMemory(j)
	s.mu.Lock()
	s.ring.ready = append(s.ring.ready, free)
	s.room.Broadcast()
}

// Seal ends the active segment early, at the end of a trading day say, and
// returns when all that was appended before is in sealed files. On a stream
// with nothing in memory it does nothing.
func (s *Stream) Seal() error {
	s.mu.Lock()
	if err := s.usable(); err != nil {
		s.mu.Unlock()
		return err
	}
	end := s.appended
	if s.commit {
		if err := s.await(end); err != nil {
			return err
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	if m := s.active; m != nil && m.n > 0 {
		s.end(m)
	}
	return s.drain(end)
}

// drain waits until all below end is sealed. Under mu, which it gives up to wait.
func (s *Stream) drain(end uint64) error {
	s.sealer.err = nil
	s.kickSealer()
	for {
		switch {
		case s.fail != nil:
			return s.fail
		case len(s.live) == 0 || s.live[0].first >= end:
			return nil
		case s.sealer.err != nil && !s.sealer.busy:
			return s.sealer.err
		case s.sealer.stop:
			return ErrClosed
		}
		s.idle.Wait()
	}
}
