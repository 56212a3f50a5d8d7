package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"example.com/ledger/internal/disk"
)

// A Frame is one good frame of records.
type Frame struct {
	Offset  int64  // of the frame in the file
	First   uint64 // of its records
	Count   int
	More    bool   // the batch goes on in the next journal
	Durable uint64 // as the frame says
}

// End is the number behind the frame's last record.
func (f Frame) End() uint64 { return f.First + uint64(f.Count) }

// An Extension is a good extension frame.
type Extension struct {
	Offset int64
	Data   []byte // its payload, in the scanned bytes
}

// A Scan is what one journal holds: its good frames up to the first that is
// not, and what stands behind that stop.
type Scan struct {
	N      int // which of the ring
	Header Header
	Data   []byte // the whole file
	Frames []Frame
	Exts   []Extension

	End         uint64  // the number reached: First if there is no frame
	Stop        int64   // offset behind the last good frame
	StopKind    int     // KindMark or KindClosing if a good mark stands at Stop, else -1
	StopDurable uint64  // what that mark says
	Behind      []Frame // good frames behind the stop
	Durable     uint64  // the largest durable that any header, frame or mark here proves
}

// BehindEnd is the highest number that ends a good frame behind the stop, or 0.
func (s *Scan) BehindEnd() uint64 {
	var end uint64
	for _, f := range s.Behind {
		end = max(end, f.End())
	}
	return end
}

// Records returns the bytes of a frame's records.
func (s *Scan) Records(f Frame) []byte {
	at := f.Offset + FrameSize
	return s.Data[at : at+int64(f.Count)*int64(s.Header.Width)]
}

// scanner reads frames of one journal's life.
type scanner struct {
	data     []byte
	width    int
	first    uint64
	capacity uint64
	seed     uint32

	spent int64 // bytes that were summed one by one
	sums  *sums // from then on that this is too much
}

// sumsAfter bounds how often a journal's bytes are summed one by one: a scan
// without hostile bytes in it needs a part of this.
const sumsAfter = 4

// A head is the decoded beginning of a frame that may or may not be good.
type head struct {
	kind, count int
	more        bool
	durable     uint64
	size        int64
}

// head decodes the frame at off and checks what can be checked without its
// checksum: that it fits and says what a frame of this life could say.
func (s *scanner) head(off int64) (h head, ok bool) {
	if off+FrameSize > int64(len(s.data)) {
		return h, false
	}
	b := s.data[off:]
	word := binary.LittleEndian.Uint32(b[4:])
	h = head{kind: int(word >> 28 & 7), count: int(word & countMask), more: word&moreBit != 0,
		durable: binary.LittleEndian.Uint64(b[8:]), size: FrameSize}
	switch h.kind {
	case KindRecords:
		if h.count == 0 || uint64(h.count) > s.capacity {
			return h, false
		}
		h.size += int64(h.count) * int64(s.width)
	case KindMark, KindClosing:
		if h.count != 0 || h.more {
			return h, false
		}
	default:
		h.size += int64(h.count) * 8
	}
	// Nothing behind this journal's own records can have been durable: the sum
	// is compared from below, so that it can't overflow.
	plausible := h.durable <= s.first || h.durable-s.first <= s.capacity
	return h, plausible && off+h.size <= int64(len(s.data))
}

// sum tells whether the checksum of the frame at off holds.
func (s *scanner) sum(off int64, h head) bool {
	want := binary.LittleEndian.Uint32(s.data[off:])
	if s.spent += h.size; s.spent <= sumsAfter*int64(len(s.data)) {
		return crc32.Update(s.seed, castagnoli, s.data[off+4:off+h.size]) == want
	}
	if s.sums == nil {
		s.sums = newSums(s.data)
	}
	return s.sums.of(s.seed, off+4, off+h.size) == want
}

// seqs returns the first record's number if the frame's records are numbered
// densely from there.
func (s *scanner) seqs(off int64, h head) (first uint64, ok bool) {
	b := s.data[off+FrameSize:]
	first = binary.LittleEndian.Uint64(b)
	for i := h.count - 1; i > 0; i-- {
		if binary.LittleEndian.Uint64(b[i*s.width:]) != first+uint64(i) {
			return first, false
		}
	}
	return first, true
}

// Read scans a journal's bytes. Its header must be valid (DecodeHeaders) and of
// the stream asked for. capacity is the stream's own, for a file that was cut
// short. The error is disk.ErrVersion if a whole frame is of a kind that a
// later release wrote.
func Read(n int, data []byte, h Header, capacity int) (*Scan, error) {
	if h.Width < 16 || h.Width%8 != 0 || len(data) < FramesAt {
		return nil, &disk.CorruptError{Offset: offWidth, Field: "width", Detail: fmt.Sprintf("records of %d bytes", h.Width)}
	}
	if made, ok := Capacity(int64(len(data)), int(h.Width)); ok {
		capacity = max(capacity, made)
	}
	if h.First > math.MaxUint64-uint64(capacity) {
		return nil, &disk.CorruptError{Offset: offFirst, Field: "first_seq", Detail: fmt.Sprintf("%d leaves no room for records", h.First)}
	}
	r := &scanner{data: data, width: int(h.Width), first: h.First, capacity: uint64(capacity), seed: seed(h.Salt)}
	s := &Scan{N: n, Header: h, Data: data, End: h.First, Stop: FramesAt, StopKind: -1, Durable: h.Base}
	if err := r.forward(s); err != nil {
		return nil, err
	}
	r.mark(s)
	r.behind(s)
	return s, nil
}

// forward collects the good frames from the beginning.
func (r *scanner) forward(s *Scan) error {
	for off := s.Stop; ; {
		h, ok := r.head(off)
		if !ok || h.kind == KindMark || h.kind == KindClosing || !r.sum(off, h) {
			return nil
		}
		switch h.kind {
		case KindRecords:
			first, dense := r.seqs(off, h)
			if !dense || first != s.End {
				return nil
			}
			s.Frames = append(s.Frames, Frame{Offset: off, First: first, Count: h.count, More: h.more, Durable: h.durable})
			s.End += uint64(h.count)
			s.Stop = off + h.size
		case KindExtension:
			// One in front of a frame counts with that frame; at the start it
			// stands by itself.
			payload := s.Data[off+FrameSize : off+h.size]
			if off == FramesAt {
				s.Stop = off + h.size
			} else if !r.records(off+h.size, s.End) {
				return nil
			}
			s.Exts = append(s.Exts, Extension{Offset: off, Data: payload})
		default:
			return fmt.Errorf("%w: frame kind %d at byte %d", disk.ErrVersion, h.kind, off)
		}
		s.Durable = max(s.Durable, h.durable)
		off += h.size
	}
}

// records tells whether a good frame of records that begins with want is at off.
func (r *scanner) records(off int64, want uint64) bool {
	h, ok := r.head(off)
	if !ok || h.kind != KindRecords || !r.sum(off, h) {
		return false
	}
	first, dense := r.seqs(off, h)
	return dense && first == want
}

// mark reads the mark at the stop, if one is there.
func (r *scanner) mark(s *Scan) {
	h, ok := r.head(s.Stop)
	if ok && (h.kind == KindMark || h.kind == KindClosing) && r.sum(s.Stop, h) {
		s.StopKind, s.StopDurable = h.kind, h.durable
		s.Durable = max(s.Durable, h.durable)
	}
}

// behind tries each multiple of 8 past the stop for frames and marks of this
// life: records that were written and whose place in the sequence is lost, and
// witnesses of what was durable.
func (r *scanner) behind(s *Scan) {
	for off := s.Stop; ; {
		if off = r.candidate(off); off < 0 {
			return
		}
		var first uint64
		h, ok := r.head(off)
		ok = ok && h.kind <= KindExtension && r.plausible(off, h) && r.sum(off, h)
		if ok && h.kind == KindRecords {
			first, ok = r.seqs(off, h)
		}
		if !ok {
			off += 8
			continue
		}
		s.Durable = max(s.Durable, h.durable)
		if h.kind == KindRecords {
			s.Behind = append(s.Behind, Frame{Offset: off, First: first, Count: h.count, More: h.more, Durable: h.durable})
		}
		off += h.size
	}
}

// candidate returns the first multiple of 8 from off on at which the words of a
// frame could stand, or -1. It passes over what most of a journal is: zeros, or
// records of its former life.
func (r *scanner) candidate(off int64) int64 {
	most := uint32(min(r.capacity, countMask))
	for ; off+FrameSize <= int64(len(r.data)); off += 8 {
		word := uint32(binary.LittleEndian.Uint64(r.data[off:]) >> 32)
		switch kind, count := word>>28&7, word&countMask; {
		case word == 0: // records, but none
		case kind == KindRecords && (count == 0 || count > most):
		case (kind == KindMark || kind == KindClosing) && word&(countMask|moreBit) != 0:
		case kind > KindExtension:
		default:
			return off
		}
	}
	return -1
}

// plausible looks at the ends of a frame's numbers before its whole checksum is
// computed, so that old bytes don't make the search slow.
func (r *scanner) plausible(off int64, h head) bool {
	if h.kind != KindRecords {
		return true
	}
	b := r.data[off+FrameSize:]
	first := binary.LittleEndian.Uint64(b)
	last := binary.LittleEndian.Uint64(b[(h.count-1)*r.width:])
	return first >= r.first && first-r.first < r.capacity && last == first+uint64(h.count)-1
}
