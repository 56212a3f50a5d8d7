package stream

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Tail yields the records from number from on, those that are there and then
// new ones as they are published, until ctx ends or the loop is left. Batches
// are those of Range: valid until the loop's next turn. The tail is woken by the
// writer; it doesn't poll.
//
// Records that retention took before the tail came to them are told by a
// *DroppedError with their range, behind which the loop may go on. The last
// pair has the context's error, ErrClosed when the stream was closed and all
// was yielded, ErrPoisoned, or damage.
func (s *Stream) Tail(ctx context.Context, from Seq) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for {
			n, err := s.Snapshot()
			if err != nil {
				yield(Batch{}, err)
				return
			}
			next, goOn := n.tail(ctx, from, yield)
			_ = n.Close()
			if !goOn {
				return
			}
			from = next
			if err := s.awaitPublished(ctx, from); err != nil {
				yield(Batch{}, err)
				return
			}
		}
	}
}

// tail yields what a snapshot has from number from on. It returns where the
// next one goes on, and whether the loop does.
func (n *Snapshot) tail(ctx context.Context, from Seq, yield func(Batch, error) bool) (next Seq, goOn bool) {
	next = from
	for b, err := range n.Range(from, n.End()) {
		var dropped *DroppedError
		if errors.As(err, &dropped) {
			// Only what lies at or above from is news.
			next = max(next, dropped.To)
			err = &DroppedError{From: max(from, dropped.From), To: dropped.To, Reason: dropped.Reason}
		}
		if err == nil {
			if cerr := ctx.Err(); cerr != nil {
				yield(Batch{}, cerr)
				return next, false
			}
			next = b.End()
		}
		if !yield(b, err) || err != nil && dropped == nil {
			return next, false
		}
	}
	return next, true
}

// awaitPublished waits until a record at or above from is published.
func (s *Stream) awaitPublished(ctx context.Context, from Seq) error {
	s.watchers.Add(1)
	defer s.watchers.Add(-1)
	for {
		woken := s.wake.next()
		if s.published.Load() > uint64(from) {
			return nil
		}
		s.mu.Lock()
		err := s.fail
		if err == nil && s.settled { // Close publishes what is left first
			err = ErrClosed
		}
		s.mu.Unlock()
		if s.published.Load() > uint64(from) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-woken:
		}
	}
}

// How a reader waits for a writer in another process: there is nobody to wake
// it, so it looks at the cursors page, less and less often.
const (
	pollMin = 50 * time.Microsecond
	pollMax = 5 * time.Millisecond
)

// Tail is Stream.Tail beside a writer in another process, over its rolls, its
// restarts and its death. It polls the cursors page: within 50 µs while records
// arrive, within 5 ms when none do.
func (r *Reader) Tail(ctx context.Context, from Seq) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		timer := time.NewTimer(pollMin)
		defer timer.Stop()
		wait := pollMin
		for {
			n, err := r.Snapshot()
			if err != nil {
				yield(Batch{}, err)
				return
			}
			next, goOn := n.tail(ctx, from, yield)
			_ = n.Close()
			if !goOn {
				return
			}
			if wait = min(2*wait, pollMax); next > from {
				wait = pollMin
			}
			from = next
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				yield(Batch{}, ctx.Err())
				return
			case <-timer.C:
			}
		}
	}
}
