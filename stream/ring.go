package stream

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/ledger/internal/journal"
)

// A ring is the stream's journals. Each is backing a segment in memory, or
// ready with memory beside it, or still to be made. Under Stream.mu.
type ring struct {
	ready   []*memory // a free journal and an empty buffer each
	files   [journal.Ring]*journal.Journal
	spare   [journal.Ring]bool // the file is there, of the right size, and free
	cold    []*journal.Journal // in use since recovery, their pages not touched yet
	buffers buffers

	maker  *sync.Cond // on Stream.mu: something to make, or stop
	want   int        // journals that should be ready
	making bool
	err    error // of the last try to make one
	stop   bool
	done   chan struct{} // closed when the maker ended
}

// left is how many records of a batch fit into the active segment; none if its
// producer's number doesn't fit with at least one.
func (s *Stream) left(e *entry) int {
	if s.active == nil {
		return 0
	}
	n := s.active.limit - s.active.n
	if e != nil {
		n = max(0, n-s.costOf(entrySize))
	}
	return n
}

// costOf is how many records an extension frame of n bytes takes the place of.
func (s *Stream) costOf(n int) int {
	each := s.width + journal.FrameSize
	return (journal.FrameSize + n + each - 1) / each
}

// restrict takes down how many records still fit into the journal of m, each in
// a frame of its own.
func (s *Stream) restrict(m *memory) {
	m.limit = min(m.limit, m.n+m.j.Room()/(s.width+journal.FrameSize))
}

// rollsFor is how many journals must be started for n records.
func (s *Stream) rollsFor(n int, e *entry) int {
	left := s.left(e)
	if n -= left; n <= 0 {
		return 0
	}
	each := s.info.Capacity
	if t := len(s.producers.window); t > 0 {
		each -= s.costOf(t * entrySize)
	}
	first := each
	if e != nil && left == 0 {
		first -= s.costOf(entrySize)
	}
	return 1 + max(0, n-first+each-1)/each
}

// makeRoom sees to it that n records can be appended: the active segment has
// room, or enough journals are ready. Under mu, which it gives up to wait.
func (s *Stream) makeRoom(n int, e *entry) error {
	if n == 0 {
		return nil
	}
	if n > 2*s.info.Capacity {
		return batchTooLarge(n, s.info.Capacity)
	}
	if s.rollsFor(n, e) <= len(s.ring.ready) {
		return nil
	}
	s.counts.waits++
	if len(s.live) > 1 {
		s.tell(Event{Kind: EventSealLag, From: Seq(s.live[0].first), To: Seq(s.appended)})
	}
	return s.awaitRoom(n, e)
}

// awaitRoom waits until the journals for n records are ready, the background has
// given up on them, or the time for it is over. Under mu, which it gives up.
func (s *Stream) awaitRoom(n int, e *entry) error {
	late := s.roomWait < 0
	if s.roomWait > 0 {
		t := time.AfterFunc(s.roomWait, func() {
			s.mu.Lock()
			late = true
			s.room.Broadcast()
			s.mu.Unlock()
		})
		defer t.Stop()
	}
	s.kick(s.rollsFor(n, e))
	for {
		if late {
			return ErrBusy
		}
		s.room.Wait()
		if err := s.usable(); err != nil {
			return err
		}
		need := s.rollsFor(n, e)
		switch {
		case need <= len(s.ring.ready):
			return nil
		case s.stuck() && s.blocker() != nil:
			return s.blocker()
		}
		// Another append may have used what became ready meanwhile.
		s.ring.want = max(s.ring.want, need)
		s.kickMaker()
		s.kickSealer()
	}
}

// kick sets the background to work on getting need journals ready.
func (s *Stream) kick(need int) {
	s.ring.want = max(s.ring.want, need)
	s.ring.err = nil
	s.kickMaker()
	s.sealer.err = nil
	s.kickSealer()
}

// stuck tells that nothing in the background will make a journal ready.
func (s *Stream) stuck() bool { return !s.ring.making && !s.sealer.busy && s.group.running == 0 }

// blocker says why no journal becomes ready, if the background gave up.
func (s *Stream) blocker() error {
	if s.sealer.err != nil {
		return s.sealer.err
	}
	return s.ring.err
}

// kickMaker lets the maker work if a journal is wanted and may be made.
func (s *Stream) kickMaker() {
	if s.ring.err == nil && len(s.ring.ready) < s.ring.want && s.missingJournal() >= 0 && !s.ring.stop {
		s.ring.making = true
		s.ring.maker.Signal()
	}
}

// missingJournal is the number of one that is not made yet, or -1.
func (s *Stream) missingJournal() int {
	for n, j := range s.ring.files {
		if j == nil {
			return n
		}
	}
	return -1
}

// makeJournals makes journals off the append path, while some are wanted.
func (s *Stream) makeJournals() {
	defer close(s.ring.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.ring
	for {
		if !r.stop && len(r.cold) > 0 {
			j := r.cold[0]
			r.cold, r.making = r.cold[1:], true
			s.mu.Unlock()
			j.Populate()
			s.mu.Lock()
			continue
		}
		n := s.missingJournal()
		if r.stop || r.err != nil || n < 0 || len(r.ready) >= r.want {
			r.making = false
			s.room.Broadcast()
			if r.stop {
				return
			}
			r.maker.Wait()
			continue
		}
		r.making = true
		s.mu.Unlock()
		j, err := s.newJournal(n)
		var m *memory
		if err == nil {
			j.Touch()
			m = s.newMemory(j)
		}
		s.mu.Lock()
		if err != nil {
			r.err = err
			if _, final := errors.AsType[*journal.NameError](err); final {
				s.poison(err)
			}
			s.tell(Event{Kind: EventSealLag, Err: fmt.Errorf("make %s: %w", journal.Name(n), err)})
			continue
		}
		r.files[n] = j
		r.ready = append(r.ready, m)
		s.room.Broadcast()
	}
}

// newJournal makes journal n, or takes the spare one, and opens it.
func (s *Stream) newJournal(n int) (*journal.Journal, error) {
	if s.ring.spare[n] {
		return s.openJournal(n)
	}
	if err := journal.Make(s.fsys, s.dir, n, s.info.Capacity, s.width); err != nil {
		return nil, err
	}
	return s.openJournal(n)
}

func (s *Stream) openJournal(n int) (*journal.Journal, error) {
	// Each sync that may run at once needs a file description of its own. Streams
	// that don't sync on the append path do with one: a thousand may be open.
	syncs := 1
	if s.commit {
		syncs = overlap
	}
	return journal.Open(s.fsys, s.dir, n, s.width, s.way(), syncs)
}

// newMemory makes a free journal ready: it gets a buffer, from the pool if there
// is one. Not under mu: it takes its time.
func (s *Stream) newMemory(j *journal.Journal) *memory {
	j.Ready()
	rows := s.ring.buffers.get()
	if len(rows) != s.info.Capacity*s.width {
		rows = newRows(s.info.Capacity * s.width)
	}
	return &memory{rows: rows, j: j, limit: s.info.Capacity}
}

// recovered is newMemory for a journal that recovery goes on in. Open doesn't
// wait for pages that may never be used: the maker gets them ready.
func (s *Stream) recovered(j *journal.Journal) *memory {
	j.Ready()
	s.ring.cold = append(s.ring.cold, j)
	return &memory{rows: make([]byte, s.info.Capacity*s.width), j: j, limit: s.info.Capacity}
}

// newRows allocates a buffer whose pages are there.
func newRows(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 0
	}
	return b
}

// buffers are rows that no view shows any more. They have a lock of their own,
// as the last snapshot of a view gives them back.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
}

func (b *buffers) get() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.free)
	if n == 0 {
		return nil
	}
	rows := b.free[n-1]
	b.free = b.free[:n-1]
	return rows
}

func (b *buffers) put(rows []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) < journal.Ring {
		b.free = append(b.free, rows)
	}
}

// roll begins the segment that starts with seq in a ready journal. Under mu.
func (s *Stream) roll(seq uint64) (*memory, error) {
	r := &s.ring
	m := r.ready[0]
	copy(r.ready, r.ready[1:])
	r.ready = r.ready[:len(r.ready)-1]
	s.gen++
	if n := len(s.live); n > 0 { // a journal's header is never there before the frames of the last one
		if err := s.live[n-1].j.Flush(); err != nil {
			return nil, err
		}
	}
	if err := m.j.Start(s.header(s.gen, seq, 0)); err != nil {
		return nil, err
	}
	s.begin(m, seq)
	if t := s.producers.bytes(); len(t) > 0 {
		if err := m.j.Extension(t, s.durable); err != nil {
			return nil, err
		}
		s.restrict(m)
	}
	s.counts.rolls++
	r.want = max(1, r.want)
	s.kickMaker()
	return m, nil
}

// begin makes m the active segment, with seq its first number. Under mu.
func (s *Stream) begin(m *memory, seq uint64) {
	m.first, m.born = seq, s.views.next()
	s.live = append(s.live, m)
	s.active = m
	s.show(s.views.files())
}

func (s *Stream) header(gen, first, base uint64) journal.Header {
	return journal.Header{Width: uint16(s.width), Generation: gen, First: first, Salt: rand.Uint64(), Base: base,
		ID: s.id, Tag: s.tag, Mode: uint8(s.info.Durability)}
}

// show installs a view of these files and the live segments. Under mu.
func (s *Stream) show(files []sealed, gone ...retired) {
	mems := append(make([]*memory, 0, journal.Ring), s.live...)
	s.views.install(&view{files: files, mems: mems, drops: s.drops.Ranges}, gone...)
}
