package journal

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// naive reads a journal by the words of docs/format.md, with no thought of
// speed: what a Scan must agree with.
type naive struct {
	data     []byte
	h        Header
	capacity uint64
}

type naiveFrame struct {
	kind    uint32
	more    bool
	durable uint64
	first   uint64
	count   int
	size    int
}

// at returns the frame at off if its checksum holds and it says nothing absurd.
func (n naive) at(off int) (f naiveFrame, good bool) {
	if off+16 > len(n.data) {
		return f, false
	}
	word := binary.LittleEndian.Uint32(n.data[off+4:])
	f.count, f.kind, f.more = int(word&0xfffffff), word>>28&7, word>>31 == 1
	f.durable = binary.LittleEndian.Uint64(n.data[off+8:])
	isMark := f.kind == 1 || f.kind == 2
	payload := f.count * 8
	if f.kind == 0 {
		payload = f.count * int(n.h.Width)
	}
	f.size = 16 + payload
	switch {
	case off+f.size > len(n.data),
		f.durable > n.h.First+n.capacity,
		isMark && (f.count > 0 || f.more),
		f.kind == 0 && (f.count == 0 || uint64(f.count) > n.capacity):
		return f, false
	}
	frame := bytes.Clone(n.data[off : off+f.size])
	sumFrame(frame, n.h.Salt)
	if !bytes.Equal(frame[:4], n.data[off:off+4]) {
		return f, false
	}
	if f.kind == 0 {
		f.first = binary.LittleEndian.Uint64(frame[16:])
		for i := range f.count {
			if binary.LittleEndian.Uint64(frame[16+i*int(n.h.Width):]) != f.first+uint64(i) {
				return f, false
			}
		}
	}
	return f, true
}

// read returns what a Scan should say; later means ErrVersion.
func (n naive) read() (want seen, later bool) {
	off, end, durable := 4096, n.h.First, n.h.Base
	var frames, behind []Frame
	want.kind = -1
	good := func(f naiveFrame) { durable = max(durable, f.durable) }
	next := func(off int) bool {
		f, ok := n.at(off)
		return ok && f.kind == 0 && f.first == end
	}
	stop := off
replay:
	for {
		f, ok := n.at(off)
		switch {
		case !ok || f.kind == 1 || f.kind == 2:
			break replay
		case f.kind > 3:
			return want, true
		case f.kind == 0 && f.first == end:
			frames = append(frames, Frame{First: f.first, Count: f.count, More: f.more})
			end += uint64(f.count)
			off += f.size
			stop = off
		case f.kind == 3 && (off == 4096 || next(off+f.size)):
			want.exts++
			if off == 4096 {
				stop = off + f.size
			}
			off += f.size
		default:
			break replay
		}
		good(f)
	}
	if f, ok := n.at(stop); ok && (f.kind == 1 || f.kind == 2) {
		want.kind = int(f.kind)
	}
	for off := stop; off < len(n.data); {
		f, ok := n.at(off)
		if f.kind == 0 && (f.first < n.h.First || f.first >= n.h.First+n.capacity) || f.kind > 3 || !ok {
			off += 8
			continue
		}
		good(f)
		if f.kind == 0 {
			behind = append(behind, Frame{First: f.first, Count: f.count, More: f.more})
		}
		off += f.size
	}
	want.frames, want.behind, want.end, want.stop, want.durable = frameText(frames), frameText(behind), end, int64(stop)-4096, durable
	return want, false
}

// randomLife writes frames, marks, extensions and holes, over older lives.
func randomLife(r *rand.Rand, capacity int) *life {
	l := newLife(Header{Salt: r.Uint64(), First: r.Uint64N(50), Width: 16 + 8*uint16(r.IntN(3))}, capacity)
	for lives := r.IntN(3); ; lives-- {
		seq := l.h.First
		for int(l.pos)+32+l.width < len(l.data) {
			switch r.IntN(12) {
			default:
				count := 1 + r.IntN(3)
				if int(l.pos)+16+count*l.width > len(l.data) {
					count = 1
				}
				durable := l.h.First + r.Uint64N(uint64(capacity)+1)
				l.records(seq, count, r.IntN(8) == 0, durable)
				seq += uint64(count)
				if r.IntN(12) == 0 {
					seq += r.Uint64N(3)
				}
			case 0:
				l.extension(make([]byte, 8*r.IntN(3)), l.h.First)
			case 1:
				l.mark(1+r.Uint32N(2), seq)
			case 2:
				l.pos += 8 * r.Int64N(8)
			case 3:
				if lives > 0 || r.IntN(6) == 0 {
					l.pos = int64(len(l.data))
				}
			}
		}
		if lives <= 0 {
			break
		}
		l.again(Header{Salt: r.Uint64(), First: l.h.First + r.Uint64N(uint64(capacity))})
	}
	for range r.IntN(4) {
		l.data[r.IntN(len(l.data)-FramesAt)+FramesAt] ^= 1 << r.IntN(8)
	}
	return l
}

func TestScanAgreesWithNaive(t *testing.T) {
	stopped, behind, full := 0, 0, 0
	for seed := range uint64(3000) {
		l := randomLife(rand.New(rand.NewPCG(seed, 1)), 12)
		want, _ := naive{l.data, l.h, 12}.read()
		got := seenOf(readBytes(t, l.data, 12))
		if got != want {
			t.Fatalf("seed %d: %+v, want %+v", seed, got, want)
		}
		if got.frames != "" && got.end < l.h.First+12 {
			stopped++
		}
		if got.behind != "" {
			behind++
		}
		if got.end >= l.h.First+12 {
			full++
		}
	}
	if stopped < 100 || behind < 100 || full < 100 {
		t.Errorf("%d journals stopped early, %d had frames behind, %d were full: too few", stopped, behind, full)
	}
}
