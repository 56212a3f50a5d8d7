package stream

import (
	"encoding/binary"
	"fmt"
	"math"

	"example.com/ledger/schema"
)

// anySeq is AppendAt's want where the caller doesn't care.
const anySeq = math.MaxUint64

// Append appends a batch of whole records in the form of docs/format.md and
// returns the first one's number and how many they are. The batch is all or
// nothing. Its seq bytes are stamped, its padding is zeroed, in recs itself;
// recs may be used again when Append returns. What is on disk then is the
// stream's Durability. Commit appends wait for the disk, and share its syncs.
//
// An empty batch does nothing. A batch has at most twice the capacity of a
// segment. An append waits while its segment can't be begun because too many
// are being sealed. After an error nothing of the batch was appended, but for
// ErrPoisoned, after which its fate is known when the stream is opened again.
//
// Errors: ErrBatchSize, ErrBatchTooLarge, ErrNoSpace, ErrBusy, ErrPoisoned, ErrClosed.
func (s *Stream) Append(recs []byte) (first Seq, n int, err error) {
	return s.appendWait(anySeq, recs)
}

// AppendAt is Append on the condition that the batch's first record gets the
// number want; otherwise the error is ErrSeqMismatch and nothing is appended.
func (s *Stream) AppendAt(want Seq, recs []byte) (first Seq, n int, err error) {
	if want == anySeq {
		return 0, 0, fmt.Errorf("%w: %d", ErrSeqMismatch, want)
	}
	return s.appendWait(uint64(want), recs)
}

// AppendAsync is Append without the wait for the disk: it returns when the
// batch is in the journal's page cache. On a Commit stream it is acknowledged
// when WaitDurable of its end, first + n, returns nil, or when
// Cursors().Durable has reached that; a sync is on its way then.
func (s *Stream) AppendAsync(recs []byte) (first Seq, n int, err error) {
	s.mu.Lock()
	at, n, err := s.append(anySeq, recs, nil)
	if err == nil && n > 0 && s.commit {
		if err = s.flush(); err == nil {
			s.group.ask()
		}
	}
	s.mu.Unlock()
	return Seq(at), n, err
}

// flush hands what is gathered of the newest journal to the system; what an older
// one had was when it ended. Under mu.
func (s *Stream) flush() error {
	if err := s.live[len(s.live)-1].j.Flush(); err != nil {
		s.poison(err)
		return s.fail
	}
	return nil
}

func (s *Stream) appendWait(want uint64, recs []byte) (Seq, int, error) {
	s.mu.Lock()
	first, n, err := s.append(want, recs, nil)
	if err != nil || n == 0 || !s.commit {
		s.mu.Unlock()
		return Seq(first), n, err
	}
	if err := s.await(first + uint64(n)); err != nil {
		return Seq(first), n, err
	}
	return Seq(first), n, nil
}

// append puts a batch into memory and the journal; e, where it is not nil, is
// the producer's number that goes with it. A batch that was appended before
// under its number is answered as it was then. Under mu, which it gives up while
// it waits for room.
func (s *Stream) append(want uint64, recs []byte, e *entry) (first uint64, n int, err error) {
	n = 1
	if len(recs) != s.width {
		n = len(recs) / s.width
	}
	if n*s.width != len(recs) {
		return 0, 0, fmt.Errorf("%w: %d bytes, and a record has %d", ErrBatchSize, len(recs), s.width)
	}
	if err := s.usable(); err != nil {
		return 0, 0, err
	}
	m := s.active
	if m == nil || n > m.limit-m.n || e != nil {
		if err := s.makeRoom(n, e); err != nil {
			return 0, 0, err
		}
		m = s.active
	}
	first = s.appended
	if want != anySeq && want != first {
		return 0, 0, fmt.Errorf("%w: the next is %d, not %d", ErrSeqMismatch, first, want)
	}
	if n == 0 {
		return first, 0, nil
	}
	if e != nil {
		old, again, err := s.producers.known(*e)
		if again || err != nil {
			return old.first, int(old.count), err
		}
		e.first = first
	}
	s.stamp(recs, first)
	if s.scattered {
		s.schema.ClearPadding(recs)
	}
	if m != nil && n <= m.limit-m.n && e == nil {
		copy(m.rows[m.n*s.width:], recs)
		if err := m.j.Records(recs, false, s.durable); err != nil {
			s.poison(err)
			return first, 0, s.fail
		}
		m.n += n
	} else if err := s.spread(recs, n, e); err != nil {
		s.poison(err)
		return first, 0, s.fail
	}
	s.counts.appends++
	s.counts.records += uint64(n)
	s.appended = first + uint64(n)
	if s.commit {
		s.appendedAt.Store(s.appended)
	} else {
		s.publish(s.appended)
	}
	if m = s.active; m.n == m.limit {
		s.end(m)
	}
	return first, n, nil
}

// stamp numbers the records and zeroes their padding.
func (s *Stream) stamp(recs []byte, first uint64) {
	w, pad := s.width, s.padding
	for len(recs) >= w {
		r := recs[:w]
		binary.LittleEndian.PutUint64(r, first)
		if pad.at > 0 {
			b := r[pad.at:]
			binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&pad.keep)
		}
		first++
		recs = recs[w:]
	}
}

// padding is where a record has bytes that belong to no field: they all lie in
// the one word at `at`, whose field bits are keep; at is 0 where there are none,
// and below where they lie in several words.
type padding struct {
	at   int
	keep uint64
}

// paddingOf finds the padding of a schema by clearing that of a record of ones.
// many tells that it lies in several words: then ClearPadding is to be used.
func paddingOf(s *schema.Schema) (p padding, many bool) {
	r := make([]byte, s.Width())
	for i := range r {
		r[i] = 0xff
	}
	s.ClearPadding(r)
	for at := 16; at+8 <= len(r); at += 8 {
		keep := binary.LittleEndian.Uint64(r[at:])
		if keep == math.MaxUint64 {
			continue
		}
		if p.at > 0 {
			return padding{}, true
		}
		p = padding{at, keep}
	}
	return p, false
}

// spread writes a batch that crosses the end of a segment, or has a producer's
// number. The journals that it needs are ready. Segments that it fills are ended
// when it is whole. Any error leaves a part of it behind, which recovery cuts.
func (s *Stream) spread(recs []byte, n int, e *entry) error {
	seq := s.appended
	if s.left(e) == 0 {
		s.active = nil
	}
	for n > 0 {
		m := s.active
		if m == nil || m.n == m.limit {
			var err error
			if m, err = s.roll(seq); err != nil {
				return err
			}
		}
		if e != nil {
			var b [entrySize]byte
			if err := m.j.Extension(e.append(b[:0]), s.durable); err != nil {
				return err
			}
			s.restrict(m)
			s.producers.add(*e)
			e = nil
		}
		k := min(n, m.limit-m.n)
		part := recs[:k*s.width]
		copy(m.rows[m.n*s.width:], part)
		if err := m.j.Records(part, k < n, s.durable); err != nil {
			return err
		}
		m.n += k
		n -= k
		seq += uint64(k)
		recs = recs[k*s.width:]
	}
	for _, m := range s.live {
		if m != s.active && !m.ended {
			s.end(m)
		}
	}
	return nil
}

// end closes a segment in memory: it goes to the sealer.
func (s *Stream) end(m *memory) {
	m.ended = true
	if s.active == m {
		s.active = nil
	}
	s.sealer.err = nil // another try, if the last one failed
	s.kickSealer()
}

func batchTooLarge(n, capacity int) error {
	return fmt.Errorf("%w: %d records, and a segment of %d takes %d at once", ErrBatchTooLarge, n, capacity, 2*capacity)
}
