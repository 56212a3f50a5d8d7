package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"example.com/ledger/internal/meta"
	"example.com/ledger/retention"
	"example.com/ledger/segment"
)

// A broom unlinks files that retention took, when no snapshot shows them.
type broom struct {
	using sync.Mutex // one retention at a time

	mu    sync.Mutex
	files []*segment.File // to be unlinked

	work chan struct{} // holds one: there are files
	stop chan struct{}
	done chan struct{}
}

// add takes a file that no view shows any more. The last snapshot that did may
// have been closed anywhere, so it waits for nothing.
func (b *broom) add(f *segment.File) {
	b.mu.Lock()
	b.files = append(b.files, f)
	b.mu.Unlock()
	select {
	case b.work <- struct{}{}:
	default:
	}
}

func (b *broom) take() []*segment.File {
	b.mu.Lock()
	defer b.mu.Unlock()
	files := b.files
	b.files = nil
	return files
}

// Retain drops the sealed segments that the policy chooses, whole, and returns
// them. The active segment stays. Their numbers are in drops.json, on disk,
// before a file is unlinked; numbers go on as if nothing had happened. Space is
// back when it returns, but for files that snapshots hold: these go when the
// last of them is closed. With dryRun it only tells what it would drop.
// Appends go on meanwhile. After an error nothing is dropped, or the rest of it
// at the next Open. What consumers hold (Consumer.Hold) is kept.
func (s *Stream) Retain(p retention.Policy, dryRun bool) ([]retention.Dropped, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	s.broom.using.Lock()
	defer s.broom.using.Unlock()
	s.mu.Lock()
	if err := s.usable(); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	facts, total := s.facts()
	s.mu.Unlock()
	chosen, err := s.unheld(p.Select(facts, total, s.now(), s.schema.Unit()))
	if err != nil {
		return nil, err
	}
	if dryRun || len(chosen) == 0 {
		return chosen, nil
	}
	if err := s.drop(chosen); err != nil {
		return nil, err
	}
	s.tell(Event{Kind: EventRetained, From: Seq(chosen[0].First), To: Seq(chosen[len(chosen)-1].End)})
	return chosen, s.sweep()
}

// unheld takes out of a choice what consumers hold, and says so.
func (s *Stream) unheld(chosen []retention.Dropped) ([]retention.Dropped, error) {
	if len(chosen) == 0 {
		return nil, nil
	}
	cs, err := consumers(s.fsys, s.dir, s.id, s.published.Load())
	if err != nil {
		return nil, err
	}
	from, name, ok := held(cs)
	if !ok {
		return chosen, nil
	}
	keep := slices.DeleteFunc(slices.Clone(chosen), func(d retention.Dropped) bool { return d.End > from })
	if n := len(chosen) - len(keep); n > 0 {
		s.tell(Event{Kind: EventHeld, From: Seq(from), To: Seq(chosen[len(chosen)-1].End),
			Err: fmt.Errorf("consumer %s holds %d segments that retention would drop", name, n)})
	}
	return keep, nil
}

// facts are what policies look at. Under mu.
func (s *Stream) facts() ([]retention.Segment, retention.Totals) {
	var segs []retention.Segment
	var total retention.Totals
	for _, f := range s.views.files() {
		h := f.Header()
		segs = append(segs, retention.Segment{First: h.First, End: h.End(), MinTime: h.MinTime, MaxTime: h.MaxTime,
			SealedAt: h.SealedAt, Bytes: f.Size()})
		total.Records += h.Count
		total.Bytes += f.Size()
	}
	for _, m := range s.live {
		total.Records += uint64(m.n)
		total.Bytes += int64(m.n * s.width)
	}
	return segs, total
}

// drop names the segments in drops.json and takes them out of view.
func (s *Stream) drop(chosen []retention.Dropped) error {
	s.mu.Lock()
	drops := s.drops
	s.mu.Unlock()
	gone := make(map[uint64]bool)
	for _, d := range chosen {
		drops = drops.Add(meta.Drop{From: d.First, To: d.End, Reason: meta.ReasonRetention + ": " + d.Reason, At: s.now().UTC()})
		gone[d.First] = true
	}
	late, err := saveDrops(s.fsys, s.dir, drops)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if late != nil {
		s.poison(late)
		return s.fail
	}
	s.drops = drops
	old := s.views.files()
	files := make([]sealed, 0, len(old)-len(gone))
	var out []retired
	for _, f := range old {
		if !gone[f.Header().First] {
			files = append(files, f)
			continue
		}
		s.counts.dropped += f.Header().Count
		out = append(out, retired{born: f.born, free: func() { s.broom.add(f.File) }})
	}
	s.loose = slices.DeleteFunc(s.loose, func(f *segment.File) bool { return gone[f.Header().First] })
	s.show(files, out...)
	return nil
}

// sweepUp unlinks in the background what snapshots have given back.
func (s *Stream) sweepUp() {
	defer close(s.broom.done)
	for {
		select {
		case <-s.broom.stop:
			return
		case <-s.broom.work:
		}
		s.broom.using.Lock()
		err := s.sweep()
		s.broom.using.Unlock()
		if err != nil {
			s.tell(Event{Kind: EventRetained, Err: fmt.Errorf("retired files stay until the next open: %w", err)})
		}
	}
}

// sweep unlinks what no snapshot shows any more. What it can't unlink is
// unlinked at the next Open, as drops.json names it.
func (s *Stream) sweep() error {
	files := s.broom.take()
	if len(files) == 0 {
		return nil
	}
	var errs []error
	for _, f := range files {
		f.Evict()
		if err := s.fsys.Remove(f.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if err := s.fsys.SyncDir(s.dir); err != nil {
		s.mu.Lock()
		s.poison(err)
		s.mu.Unlock()
		errs = append(errs, err)
	}
	keepReserve(s.fsys, s.dir)
	return errors.Join(errs...)
}

// applyPolicy applies the standing policy. Under mu, which it gives up.
func (s *Stream) applyPolicy() {
	p := s.info.Retention
	s.mu.Unlock()
	defer s.mu.Lock()
	s.checkRoom()
	if p.IsZero() {
		return
	}
	_, err := s.Retain(p, false)
	if err != nil && !errors.Is(err, ErrClosed) {
		s.tell(Event{Kind: EventRetained, Err: fmt.Errorf("retention failed; it is tried again after the next seal: %w", err)})
	}
}
