package stream

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"slices"

	"example.com/ledger/internal/journal"
)

// A ProducerID names who sends numbered batches: a gateway's UUID, say.
type ProducerID [16]byte

// Errors of AppendOnce.
var (
	// ErrProducer: the number was given before, with other records.
	ErrProducer = errors.New("ledger: this producer's number was used for another batch")
	// ErrProducerWindow: the number is not above the producer's newest one, and
	// too old for the window to tell whether it was used.
	ErrProducerWindow = errors.New("ledger: this producer's number lies behind the window")
)

// ProducerWindow is how many numbered batches of a stream are remembered, those
// of all producers together; a stream of small capacity remembers as many as fit
// into an eighth of a journal.
const ProducerWindow = 1024

// producerWindowMin is the least that AppendOnce works with.
const producerWindowMin = 16

// An entry is what the journal's extension frames hold for each numbered batch:
//
//	0  16  id
//	16  8  number
//	24  8  first sequence number
//	32  8  records
//	40  8  CRC-64/ECMA of the records, without their sequence numbers
type entry struct {
	id     ProducerID
	number uint64
	first  uint64
	count  uint64
	sum    uint64
}

const entrySize = 48

func (e entry) append(b []byte) []byte {
	b = append(b, e.id[:]...)
	for _, v := range [...]uint64{e.number, e.first, e.count, e.sum} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func decodeEntry(b []byte) entry {
	return entry{id: ProducerID(b[:16]), number: binary.LittleEndian.Uint64(b[16:]), first: binary.LittleEndian.Uint64(b[24:]),
		count: binary.LittleEndian.Uint64(b[32:]), sum: binary.LittleEndian.Uint64(b[40:])}
}

var ecma = crc64.MakeTable(crc64.ECMA)

// batchSum is the checksum of records without their numbers.
func batchSum(recs []byte, width int) (sum uint64) {
	for i := 0; i+width <= len(recs); i += width {
		sum = crc64.Update(sum, ecma, recs[i+8:i+width])
	}
	return sum
}

// producers remember the newest numbered batches. Under Stream.mu.
type producers struct {
	size   int                             // of the window
	window []entry                         // oldest first
	by     map[ProducerID]map[uint64]entry // what the window holds
	newest map[ProducerID]uint64           // the highest number of each of them
	table  []byte                          // scratch
}

// windowOf is how many batches a stream of that journal size remembers; 0 if it
// is too small for numbered batches.
func windowOf(capacity, width int) int {
	n := min(ProducerWindow, capacity*(width+journal.FrameSize)/8/entrySize)
	if n < producerWindowMin {
		return 0
	}
	return n
}

// windowLeast is the least capacity of a stream that takes numbered batches.
func windowLeast(width int) int {
	frame := width + journal.FrameSize
	return (producerWindowMin*entrySize*8 + frame - 1) / frame
}

// add remembers a batch, and forgets the oldest beyond the window.
func (p *producers) add(e entry) {
	if p.by == nil {
		p.by, p.newest = make(map[ProducerID]map[uint64]entry), make(map[ProducerID]uint64)
	}
	if len(p.window) == p.size {
		old := p.window[0]
		p.window = append(p.window[:0], p.window[1:]...)
		delete(p.by[old.id], old.number)
		if len(p.by[old.id]) == 0 {
			delete(p.by, old.id)
			delete(p.newest, old.id)
		}
	}
	p.window = append(p.window, e)
	if p.by[e.id] == nil {
		p.by[e.id] = make(map[uint64]entry)
	}
	p.by[e.id][e.number] = e
	p.newest[e.id] = max(p.newest[e.id], e.number)
}

// known looks a number up. It returns the entry of a batch that was appended
// before, or an error that says why the batch can't be appended.
func (p *producers) known(e entry) (old entry, ok bool, err error) {
	old, ok = p.by[e.id][e.number]
	switch {
	case ok && (e.sum != old.sum || e.count != old.count):
		return entry{}, false, fmt.Errorf("%w: number %d stands for records [%d, %d)", ErrProducer, e.number, old.first, old.first+old.count)
	case ok:
		return old, true, nil
	}
	if newest, seen := p.newest[e.id]; seen && e.number <= newest {
		return entry{}, false, fmt.Errorf("%w: %d, and the newest is %d", ErrProducerWindow, e.number, newest)
	}
	return entry{}, false, nil
}

// bytes is the table as a journal's first frame holds it, nil if it is empty.
func (p *producers) bytes() []byte {
	p.table = p.table[:0]
	for _, e := range p.window {
		p.table = e.append(p.table)
	}
	return p.table
}

// recall rebuilds the window from the extension frames that replay found, for
// batches that are wholly below stop.
func (p *producers) recall(scans []*journal.Scan, stop uint64, lost journal.Ranges) {
	seen := make(map[entry]bool)
	var all []entry
	for _, s := range scans {
		for _, x := range s.Exts {
			for b := x.Data; len(b) >= entrySize; b = b[entrySize:] {
				e := decodeEntry(b)
				if e.first+e.count <= stop && e.first+e.count > e.first && !seen[e] && !overlaps(lost, e.first, e.first+e.count) {
					seen[e] = true
					all = append(all, e)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.first, b.first) })
	for _, e := range all[max(0, len(all)-p.size):] {
		p.add(e)
	}
}

func overlaps(r journal.Ranges, from, to uint64) bool {
	next, ok := r.Next(from)
	return ok && next < to
}

// AppendOnce is Append for a producer that may send a batch again because it
// didn't hear the answer. The producer numbers its batches, each number above
// the one before. The number is atomic with the batch: given again with the same
// records it returns the first answer, and nothing is appended, also after a
// crash, as long as the batch is among the newest ProducerWindow numbered ones of
// the stream, fewer where its capacity is small: see there. What is on disk on
// return is as for Append.
//
// Errors, beside those of Append: ErrProducer for a number that stands for other
// records, ErrProducerWindow for one that is too old to tell, ErrOption where
// the stream's capacity is too small to remember batches.
func (s *Stream) AppendOnce(id ProducerID, number uint64, recs []byte) (first Seq, n int, err error) {
	s.mu.Lock()
	if s.producers.size == 0 {
		s.mu.Unlock()
		return 0, 0, fmt.Errorf("%w: a capacity of %d records is too small for numbered batches: the least is %d", ErrOption, s.info.Capacity, windowLeast(s.width))
	}
	if len(recs)%s.width == 0 {
		s.schema.ClearPadding(recs)
	}
	e := entry{id: id, number: number, count: uint64(len(recs) / s.width), sum: batchSum(recs, s.width)}
	at, n, err := s.append(anySeq, recs, &e)
	if err != nil || n == 0 || !s.commit {
		s.mu.Unlock()
		return Seq(at), n, err
	}
	return Seq(at), n, s.await(at + uint64(n))
}
