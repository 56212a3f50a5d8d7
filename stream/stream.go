// Package stream is the engine: a stream is a directory of records of one
// schema, appended by one writer and read by many.
//
// Create or Open gives a Stream, whose methods may be called from any number
// of goroutines. An append stamps dense sequence numbers into the caller's
// records, copies them to the active segment and writes them to a journal; a
// full segment is sealed, transposed, into an immutable file in the
// background. A Snapshot is a frozen view that holds no lock of the writer.
// OpenReader reads a stream beside its writer, from another process too, and
// writes nothing.
//
// Bind appends and reads records as Go structs. A Consumer is a reader's place
// in the stream, kept on disk; Backup copies a stream beside its writer, and
// Alter changes its settings.
//
// What is on disk when Append returns is the stream's Durability: Commit,
// Sealed or Os. docs/format.md has every byte, docs/guarantees.md what is promised.
package stream

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A Stream is a stream open for writing: the only writer of its directory.
// Its methods may be called at the same time from any number of goroutines.
type Stream struct {
	fsys      disk.FS
	dir       string
	lock      io.Closer
	events    events
	now       func() time.Time
	roomWait  time.Duration // see OpenOptions
	onSync    func(time.Duration)
	schema    *schema.Schema
	width     int
	padding   padding
	scattered bool // padding lies in several words
	tag       uint32
	id        [16]byte
	commit    bool // durability is Commit: published is durable
	report    OpenReport
	gone      absence

	// What readers load without a lock. Each is stored under mu.
	published  atomic.Uint64
	durableNow atomic.Uint64
	appendedAt atomic.Uint64 // Commit only: on others it is published
	views      views
	watchers   atomic.Int32 // tails that wait for published
	wake       wakeup

	mu       sync.Mutex
	info     Info
	room     *sync.Cond // on mu: a journal became ready, or getting one failed
	idle     *sync.Cond // on mu: background work ended
	appended uint64     // the next number
	durable  uint64
	fail     error // poisoned: why
	closed   bool
	settled  bool      // and nothing is published any more
	active   *memory   // the one that appends go to; nil before the first record of a segment
	live     []*memory // not yet sealed, oldest first; active is the last one
	gen      uint64    // of the newest journal
	drops    meta.Drops
	lowDisk  bool
	loose    []*segment.File // sealed without a sync and not known to be durable (Os)
	counts   counters

	producers producers

	group  group
	ring   ring
	sealer sealer

	ticks ticks
	broom broom

	page    disk.Mapping // the cursors page
	shown   *uint64      // published, in the page
	session uint64
}

// counters are Stats that only grow. Under mu.
type counters struct {
	appends, records, syncs, waits, rolls, seals, dropped uint64
	sealErrors                                            uint64
}

// Schema returns the stream's schema.
func (s *Stream) Schema() *schema.Schema { return s.schema }

// Info returns what the stream is, as stored.
func (s *Stream) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

// Cursors are three exclusive ends: Appended ≥ Published and Appended ≥ Durable.
// On a Commit stream Published is Durable.
type Cursors struct {
	Appended  Seq // the next number
	Published Seq // readers see the records below
	Durable   Seq // the records below are on disk
}

// Cursors returns how far the stream is, without waiting for anything.
func (s *Stream) Cursors() Cursors {
	// Read in this order, Appended can't be seen below the others.
	d := s.durableNow.Load()
	p := s.published.Load()
	a := p
	if s.commit {
		a = s.appendedAt.Load()
	}
	return Cursors{Durable: Seq(d), Published: Seq(p), Appended: Seq(a)}
}

// way is how this stream writes its journals.
func (s *Stream) way() journal.Way {
	if s.commit {
		return journal.ByWrite
	}
	return journal.ByStores
}

// advance moves the durable cursor, and with it what readers of a Commit stream
// see. Under mu, and never on a poisoned stream.
func (s *Stream) advance(to uint64) {
	if to <= s.durable {
		return
	}
	old := s.durable
	s.durable = to
	if err := s.showDurable(); err != nil {
		s.durable = old
		s.poison(fmt.Errorf("%s: %w", meta.CursorFile, err))
		return
	}
	s.durableNow.Store(to)
	if s.commit {
		s.publish(to)
	}
	s.group.wake(to)
}

// publish lets readers see the records below to. Under mu.
func (s *Stream) publish(to uint64) {
	s.showPublished(to)
	s.published.Store(to)
	if s.watchers.Load() != 0 {
		s.wake.all()
	}
}

// poison stops appends for good. Under mu.
func (s *Stream) poison(why error) {
	if s.fail == nil {
		s.fail = &poisonError{why}
		s.tell(Event{Kind: EventPoisoned, Err: why})
	}
	s.group.failAll()
	s.room.Broadcast()
	s.idle.Broadcast()
	s.wake.all()
}

type poisonError struct{ why error }

func (e *poisonError) Error() string   { return ErrPoisoned.Error() + ": " + e.why.Error() }
func (e *poisonError) Unwrap() []error { return []error{ErrPoisoned, e.why} }

// usable is nil if the stream takes appends. Under mu.
func (s *Stream) usable() error {
	switch {
	case s.fail != nil:
		return s.fail
	case s.closed:
		return ErrClosed
	}
	return nil
}
