package stream

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// Create makes a stream in the directory dir, which is made, with its parents,
// if it is not there. When it returns, the empty stream is on disk. Other files
// in dir are left alone. Errors: ErrOption, ErrExists, ErrLocked, ErrNoSpace.
func Create(dir string, o Options) (*Stream, error) { return CreateOn(disk.OS(), dir, o) }

// CreateOn is Create on another disk, for the tests of this module.
func CreateOn(fsys disk.FS, dir string, o Options) (*Stream, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := makeDirs(fsys, filepath.Clean(dir)); err != nil {
		return nil, fmt.Errorf("ledger: create %s: %w", dir, err)
	}
	lock, err := fsys.Lock(dir)
	if err != nil {
		return nil, fmt.Errorf("ledger: create %s: %w", dir, err)
	}
	if err := create(fsys, dir, o); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("ledger: create %s: %w", dir, err)
	}
	return open(fsys, dir, lock, OpenOptions{RoomWait: o.RoomWait, Logger: o.Logger, OnEvent: o.OnEvent, OnSync: o.OnSync, Now: o.Now})
}

// makeDirs makes dir and its parents, each on disk in its own parent.
func makeDirs(fsys disk.FS, dir string) error {
	e, err := fsys.Stat(dir)
	if err == nil && e.Dir {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDirs(fsys, parent); err != nil {
			return err
		}
	}
	if err := fsys.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(parent)
}

// create puts the files of an empty stream in place; stream.json comes last.
func create(fsys disk.FS, dir string, o Options) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	orphan := false
	for _, e := range entries {
		_, isSegment := segment.ParseName(e.Name)
		_, isJournal := journal.ParseName(e.Name)
		if isJournal && e.Regular && !orphan {
			var err error
			if orphan, err = inUse(fsys, filepath.Join(dir, e.Name)); err != nil {
				return err
			}
		}
		orphan = orphan || isSegment
		if e.Name == meta.StreamFile {
			return ErrExists
		}
	}
	if orphan {
		return fmt.Errorf("%w: there are records, but no %s; see verify and repair", ErrExists, meta.StreamFile)
	}
	info := Info{Dir: dir, Schema: o.Schema, Capacity: o.Capacity, Durability: o.Durability, Layout: o.Layout,
		SyncEvery: o.SyncEvery, Retention: o.Retention, CreatedAt: orNow(o.Now)().UTC()}
	_, _ = rand.Read(info.ID[:]) // never fails
	// What an interrupted creation left behind goes first.
	for _, e := range entries {
		if e.Regular && e.Name != meta.CursorFile && ours(e.Name) {
			if err := fsys.Remove(filepath.Join(dir, e.Name)); err != nil {
				return err
			}
		}
	}
	if err := journal.Make(fsys, dir, 0, o.Capacity, o.Schema.Width()); err != nil {
		return err
	}
	if err := makeCursors(fsys, dir); err != nil {
		return err
	}
	if o.FirstSeq > 0 {
		d := meta.Drops{ID: meta.FormatID(info.ID)}.Add(meta.Drop{To: uint64(o.FirstSeq), Reason: meta.ReasonBefore, At: info.CreatedAt})
		if late, err := writeDrops(fsys, dir, d); late != nil || err != nil {
			return errors.Join(late, err)
		}
	}
	late, err := writeMeta(fsys, info)
	return errors.Join(late, err)
}

// inUse tells whether a journal has a header: it got one when a stream was there
// already, while an interrupted creation leaves nothing but zeros.
func inUse(fsys disk.FS, path string) (bool, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var b [journal.FramesAt]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return false, err
	}
	_, ok, err := journal.DecodeHeaders(b[:n])
	return ok || err != nil, nil
}

// Open opens a stream for writing and recovers it: what a crash left unfinished
// is finished, a torn tail is cut. Report says what was done. If acknowledged
// records are not there the error is ErrCorrupt with their range, and nothing
// is changed. Errors: ErrNotFound, ErrLocked, ErrCorrupt, ErrVersion,
// ErrOption where o contradicts what is stored.
func Open(dir string, o OpenOptions) (*Stream, error) { return OpenOn(disk.OS(), dir, o) }

// OpenOn is Open on another disk, for the tests of this module.
func OpenOn(fsys disk.FS, dir string, o OpenOptions) (*Stream, error) {
	lock, err := fsys.Lock(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ledger: open: %w: no directory %s", ErrNotFound, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: open %s: %w", dir, err)
	}
	return open(fsys, dir, lock, o)
}

// open takes over the lock: it is freed if open fails, or by Close.
func open(fsys disk.FS, dir string, lock io.Closer, o OpenOptions) (*Stream, error) {
	s, err := recoverStream(fsys, dir, o)
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("ledger: open %s: %w", dir, err)
	}
	s.lock = lock
	keepReserve(fsys, dir)
	go s.sealSegments()
	go s.makeJournals()
	go s.syncer()
	go s.sweepUp()
	if s.info.SyncEvery > 0 {
		go s.syncEvery()
	} else {
		close(s.ticks.done)
	}
	s.mu.Lock()
	s.kickMaker()
	s.kickSealer()
	s.applyPolicy()
	s.mu.Unlock()
	return s, nil
}

// recoverStream is Open without what runs in the background.
func recoverStream(fsys disk.FS, dir string, o OpenOptions) (*Stream, error) {
	// A name that is visible may not be on disk: first it is made so.
	if err := fsys.SyncDir(dir); err != nil {
		return nil, err
	}
	v, err := look(fsys, dir, true, nil)
	if err != nil {
		return nil, err
	}
	if err := o.agree(v.info); err != nil {
		return nil, err
	}
	if err := v.refusal(); err != nil {
		return nil, err
	}
	s := newStream(fsys, v.info, o)
	err = s.recover(v)
	if err == nil && !s.report.Clean {
		err = s.rewindConsumers()
	}
	if err != nil {
		s.closeFiles()
		return nil, err
	}
	return s, nil
}

func (o OpenOptions) agree(i Info) error {
	if o.Schema != nil && !o.Schema.Equal(i.Schema) {
		return fmt.Errorf("%w: the stream's schema is %v, not %v", ErrOption, i.Schema, o.Schema)
	}
	if o.Durability != nil && *o.Durability != i.Durability {
		return fmt.Errorf("%w: the stream's durability is %v, not %v", ErrOption, i.Durability, *o.Durability)
	}
	return nil
}

func newStream(fsys disk.FS, info Info, o OpenOptions) *Stream {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Stream{fsys: fsys, dir: info.Dir, now: orNow(o.Now), roomWait: o.RoomWait, onSync: o.OnSync, schema: info.Schema,
		width: info.Schema.Width(), tag: info.Schema.Tag(info.ID), id: info.ID,
		commit: info.Durability == Commit, info: info}
	s.padding, s.scattered = paddingOf(info.Schema)
	s.producers.size = windowOf(info.Capacity, s.width)
	s.gone = absence{fsys, info.Dir, info.ID}
	s.events.log, s.events.hook = log, o.OnEvent
	s.views.leaked = func() { s.tell(Event{Kind: EventLeaked}) }
	s.room, s.idle = sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	s.group.work, s.ring.maker, s.sealer.work = sync.NewCond(&s.mu), sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	s.group.done, s.ring.done, s.sealer.done = make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.ticks.stop, s.ticks.done = make(chan struct{}), make(chan struct{})
	s.broom.work, s.broom.stop, s.broom.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	return s
}
