package stream

import (
	"context"
	"log/slog"
	"sync"
)

// An EventKind says what an Event is about.
type EventKind string

// What a stream tells of itself.
const (
	EventRecovered EventKind = "recovered" // Open found an unclean end and mended it
	EventLost      EventKind = "lost"      // a range was given up: From and To
	EventPoisoned  EventKind = "poisoned"  // a write or sync failed: no more appends until it is opened again
	EventSealLag   EventKind = "seal_lag"  // a segment could not be sealed, or an append had to wait for one
	EventLowDisk   EventKind = "low_disk"  // there is room for less than four more segments: Bytes
	EventRewound   EventKind = "rewound"   // a consumer was ahead of what survived a power loss, and was taken back from To to From
	EventHeld      EventKind = "held"      // retention kept what a consumer has not read: from From on
	EventLeaked    EventKind = "leaked"    // a snapshot was collected that nobody had closed; what it held is given back
	EventRetained  EventKind = "retained"  // retention dropped segments within [From, To), or failed: Err
)

// An Event is something that an operator wants to know of.
type Event struct {
	Kind     EventKind
	Dir      string // of the stream
	From, To Seq    // records affected, where there are any
	Bytes    int64  // free bytes, for EventLowDisk
	Err      error  // the cause, or nil
}

// level is how loud an event is in a log.
func (k EventKind) level() slog.Level {
	switch k {
	case EventPoisoned, EventLost:
		return slog.LevelError
	case EventSealLag, EventLowDisk, EventLeaked, EventRewound:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// events logs what happens and hands it to the hook, in order, in a goroutine of
// its own, so that neither a slow log nor a hook that calls the stream is in the
// writer's way.
type events struct {
	log  *slog.Logger
	hook func(Event)

	mu    sync.Mutex
	queue []Event
	busy  bool
}

// eventsMax bounds what waits for a slow hook: what comes beyond it is dropped.
const eventsMax = 1024

// tell takes an event. It waits for nothing.
func (e *events) tell(v Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) >= eventsMax {
		return
	}
	e.queue = append(e.queue, v)
	if !e.busy {
		e.busy = true
		go e.deliver()
	}
}

func (e *events) deliver() {
	for {
		e.mu.Lock()
		if len(e.queue) == 0 {
			e.busy = false
			e.mu.Unlock()
			return
		}
		v := e.queue[0]
		e.queue = e.queue[1:]
		e.mu.Unlock()
		e.log.LogAttrs(context.Background(), v.Kind.level(), "ledger: "+string(v.Kind), v.attrs()...)
		if e.hook != nil {
			e.hook(v)
		}
	}
}

func (v Event) attrs() []slog.Attr {
	a := []slog.Attr{slog.String("dir", v.Dir)}
	if v.To > v.From {
		a = append(a, slog.Uint64("from", uint64(v.From)), slog.Uint64("to", uint64(v.To)))
	}
	if v.Bytes > 0 {
		a = append(a, slog.Int64("bytes", v.Bytes))
	}
	if v.Err != nil {
		a = append(a, slog.Any("error", v.Err))
	}
	return a
}

// tell reports an event of this stream.
func (s *Stream) tell(v Event) {
	v.Dir = s.dir
	s.events.tell(v)
}

// checkRoom tells when the disk is nearly full, once until there is room again.
// It is called between seals, not under mu.
func (s *Stream) checkRoom() {
	free, err := s.fsys.Free(s.dir)
	if err != nil {
		return // not all file systems say
	}
	low := free < 4*int64(s.info.Capacity)*int64(s.width)
	s.mu.Lock()
	was := s.lowDisk
	s.lowDisk = low
	s.mu.Unlock()
	if low && !was {
		s.tell(Event{Kind: EventLowDisk, Bytes: free})
	}
}
