package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"

	"example.com/ledger/internal/disk"
)

// A Follower reads a journal on from where a scan of it ended, while its writer
// appends. It reads bytes before it believes them: a frame counts when its
// checksum and numbers hold and, behind it, the header is still the same.
type Follower struct {
	f      disk.File
	header Header
	seed   uint32
	off    int64
	seq    uint64 // the number reached
	buf    []byte
}

// Follow opens the journal of a scan for reading on.
func Follow(fsys disk.FS, dir string, s *Scan) (*Follower, error) {
	f, err := fsys.Open(filepath.Join(dir, Name(s.N)))
	if err != nil {
		return nil, err
	}
	return &Follower{f: f, header: s.Header, seed: seed(s.Header.Salt), off: s.Stop, seq: s.End, buf: make([]byte, followStep)}, nil
}

// followStep is how much is read at once where a frame doesn't need more.
const followStep = 64 << 10

// ErrMoved: the journal has begun another life.
var ErrMoved = errors.New("ledger: journal was started again")

// Close closes the file.
func (f *Follower) Close() error { return f.f.Close() }

// Seq returns the number reached.
func (f *Follower) Seq() uint64 { return f.seq }

// Next appends the records of the frames that are whole by now to rows, and
// tells for each frame's end whether the batch goes on in the next journal.
// It returns rows as they were if nothing is new. The error is ErrMoved, or that
// of reading.
func (f *Follower) Next(rows []byte) (out []byte, more bool, err error) {
	out = rows
	off, seq := f.off, f.seq
	for !more {
		n, err := f.f.ReadAt(f.buf, off)
		if err != nil && err != io.EOF {
			return rows, false, err
		}
		used, got, goesOn := f.frames(f.buf[:n], &out, &seq)
		off += int64(used)
		more = goesOn
		if need := f.need(f.buf[used:n]); need > len(f.buf) {
			f.buf = make([]byte, need)
			continue
		}
		if !got {
			break
		}
	}
	if off == f.off {
		return rows, false, nil
	}
	var b [FramesAt]byte
	if _, err := f.f.ReadAt(b[:], 0); err != nil && err != io.EOF {
		return rows, false, err
	}
	if h, ok, err := DecodeHeaders(b[:]); err != nil || !ok || h != f.header {
		return rows, false, ErrMoved
	}
	f.off, f.seq = off, seq
	return out, more, nil
}

// frames reads the whole frames at the beginning of b.
func (f *Follower) frames(b []byte, out *[]byte, seq *uint64) (used int, got, more bool) {
	for len(b)-used >= FrameSize && !more {
		p := b[used:]
		word := binary.LittleEndian.Uint32(p[4:])
		kind, count := word>>28&7, word&countMask
		size := f.size(word)
		if size == 0 || kind == KindRecords && count == 0 || size > int64(len(p)) || crc32.Update(f.seed, castagnoli, p[4:size]) != binary.LittleEndian.Uint32(p) {
			return used, got, false
		}
		if kind == KindRecords {
			if binary.LittleEndian.Uint64(p[FrameSize:]) != *seq {
				return used, got, false
			}
			*out = append(*out, p[FrameSize:size]...)
			*seq += uint64(count)
			more = word&moreBit != 0
		}
		used += int(size)
		got = true
	}
	return used, got, more
}

// size is what the frame with that word takes, bytes, if it is one of records or
// an extension; 0 for a mark, which the next frame overwrites. It has 64 bits, as
// a word that is none can say anything.
func (f *Follower) size(word uint32) int64 {
	switch count := int64(word & countMask); word >> 28 & 7 {
	case KindRecords:
		return FrameSize + count*int64(f.header.Width)
	case KindExtension:
		return FrameSize + count*8
	}
	return 0
}

// need is the size of the frame that b begins with, if b is too short for it
// and it could be one: at most what the file can hold.
func (f *Follower) need(b []byte) int {
	if len(b) < FrameSize {
		return 0
	}
	size := f.size(binary.LittleEndian.Uint32(b[4:]))
	all, err := f.f.Size()
	if err != nil || size <= int64(len(b)) || size > all-FramesAt {
		return 0
	}
	return int(size)
}
