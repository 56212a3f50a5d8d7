package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"example.com/ledger/internal/disk"
)

// A seen is what a test says of a Scan.
type seen struct {
	frames  string // "first+count" of each, with "m" if the batch goes on
	end     uint64
	stop    int64 // from FramesAt
	kind    int
	behind  string
	durable uint64
	exts    int
}

func frameText(fs []Frame) string {
	text := ""
	for _, f := range fs {
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf("%d+%d", f.First, f.Count)
		if f.More {
			text += "m"
		}
	}
	return text
}

func seenOf(s *Scan) seen {
	return seen{frameText(s.Frames), s.End, s.Stop - FramesAt, s.StopKind, frameText(s.Behind), s.Durable, len(s.Exts)}
}

const one = FrameSize + testWidth // a frame of one record

func TestScan(t *testing.T) {
	head := Header{First: 100, Salt: 7, Generation: 3}
	word := []byte("12345678")
	for _, c := range []struct {
		name  string
		write func(l *life)
		want  seen
	}{
		{"empty", func(l *life) {}, seen{end: 100, kind: -1}},
		{"frames", func(l *life) { l.records(100, 2, false, 90); l.records(102, 1, false, 102) },
			seen{frames: "100+2 102+1", end: 103, stop: 2*one + testWidth, kind: -1, durable: 102}},
		{"batch that goes on", func(l *life) { l.records(100, 1, false, 0); l.records(101, 3, true, 0) },
			seen{frames: "100+1 101+3m", end: 104, stop: 2*one + 2*testWidth, kind: -1}},
		{"mark at the start", func(l *life) { l.mark(KindMark, 100) }, seen{end: 100, kind: KindMark, durable: 100}},
		{"mark at the stop", func(l *life) { l.records(100, 1, false, 0); l.mark(KindMark, 101) },
			seen{frames: "100+1", end: 101, stop: one, kind: KindMark, durable: 101}},
		{"closing mark", func(l *life) { l.records(100, 1, false, 0); l.mark(KindClosing, 101) },
			seen{frames: "100+1", end: 101, stop: one, kind: KindClosing, durable: 101}},
		{"mark that a frame overwrote", func(l *life) { l.records(100, 1, false, 0); l.mark(KindMark, 101); l.records(101, 1, false, 101) },
			seen{frames: "100+1 101+1", end: 102, stop: 2 * one, kind: -1, durable: 101}},
		{"frame behind a mark", func(l *life) { // of a torn page: the mark's is old, the frame's is new
			l.records(100, 1, false, 0)
			l.mark(KindClosing, 101)
			l.skip()
			l.records(102, 1, false, 101)
		}, seen{frames: "100+1", end: 101, stop: one, kind: KindClosing, behind: "102+1", durable: 101}},
		{"frames behind a hole", func(l *life) { l.records(100, 1, false, 0); l.skip(); l.records(102, 2, true, 101) },
			seen{frames: "100+1", end: 101, stop: one, kind: -1, behind: "102+2m", durable: 101}},
		{"mark behind a hole", func(l *life) { l.skip(); l.skip(); l.mark(KindMark, 102) }, seen{end: 100, kind: -1, durable: 102}},
		{"hole of odd words", func(l *life) {
			l.records(100, 1, false, 0)
			l.pos += 8
			l.records(103, 1, false, 0)
			l.pos += 24
			l.mark(KindMark, 102)
		},
			seen{frames: "100+1", end: 101, stop: one, kind: -1, behind: "103+1", durable: 102}},
		{"numbers that don't follow", func(l *life) { l.records(100, 1, false, 0); l.records(102, 1, false, 0) },
			seen{frames: "100+1", end: 101, stop: one, kind: -1, behind: "102+1"}},
		{"the same number again", func(l *life) { l.records(100, 1, false, 0); l.records(100, 1, false, 0) },
			seen{frames: "100+1", end: 101, stop: one, kind: -1, behind: "100+1"}},
		{"first number below the journal's", func(l *life) { l.records(99, 1, false, 0) }, seen{end: 100, kind: -1}},
		{"number beyond the room", func(l *life) { l.records(108, 1, false, 0) }, seen{end: 100, kind: -1}},
		{"numbers not dense", func(l *life) { l.put(shape{count: 2}, append(rowsOf(100, 1, testWidth), rowsOf(102, 1, testWidth)...)) },
			seen{end: 100, kind: -1}},
		{"numbers not dense in the middle", func(l *life) {
			l.put(shape{count: 3, durable: 103}, slices.Concat(rowsOf(100, 1, testWidth), rowsOf(100, 1, testWidth), rowsOf(102, 1, testWidth)))
		}, seen{end: 100, kind: -1}},
		{"no records", func(l *life) { l.put(shape{durable: 103}, nil) }, seen{end: 100, kind: -1}},
		{"count beyond the file", func(l *life) { l.put(shape{count: 7}, rowsOf(100, 6, testWidth)) }, seen{end: 100, kind: -1}},
		{"count beyond everything", func(l *life) { l.put(shape{count: 1<<28 - 1}, rowsOf(100, 1, testWidth)) }, seen{end: 100, kind: -1}},
		{"mark with a count", func(l *life) { l.put(shape{kind: KindMark, count: 1, durable: 103}, rowsOf(100, 1, testWidth)) }, seen{end: 100, kind: -1}},
		{"mark that goes on", func(l *life) { l.put(shape{kind: KindMark, more: true, durable: 103}, nil) }, seen{end: 100, kind: -1}},
		{"durable at the end of the room", func(l *life) { l.records(100, 1, false, 108) },
			seen{frames: "100+1", end: 101, stop: one, kind: -1, durable: 108}},
		{"durable beyond the room", func(l *life) { l.records(100, 1, false, 109) }, seen{end: 100, kind: -1}},
		{"durable of all bits", func(l *life) { l.records(100, 1, false, math.MaxUint64) }, seen{end: 100, kind: -1}},
		{"mark beyond the room", func(l *life) { l.records(100, 1, false, 0); l.mark(KindMark, 109) },
			seen{frames: "100+1", end: 101, stop: one, kind: -1}},
		{"extension at the start", func(l *life) { l.extension(word, 99) }, seen{end: 100, stop: 24, kind: -1, durable: 99, exts: 1}},
		{"extension at the start and a mark", func(l *life) { l.extension(word, 0); l.mark(KindClosing, 100) },
			seen{end: 100, stop: 24, kind: KindClosing, durable: 100, exts: 1}},
		{"extensions at the start and of a batch", func(l *life) { l.extension(word, 0); l.extension(word, 0); l.records(100, 1, false, 0) },
			seen{frames: "100+1", end: 101, stop: 48 + one, kind: -1, exts: 2}},
		{"extension in front of a frame", func(l *life) {
			l.records(100, 1, false, 0)
			l.extension(slices.Concat(word, word), 101)
			l.records(101, 1, false, 0)
		}, seen{frames: "100+1 101+1", end: 102, stop: 2*one + 32, kind: -1, durable: 101, exts: 1}},
		{"empty extension", func(l *life) { l.records(100, 1, false, 0); l.extension(nil, 0); l.records(101, 1, false, 0) },
			seen{frames: "100+1 101+1", end: 102, stop: 2*one + 16, kind: -1, exts: 1}},
		{"extension in front of nothing", func(l *life) { l.records(100, 1, false, 0); l.extension(word, 101) },
			seen{frames: "100+1", end: 101, stop: one, kind: -1, durable: 101}},
		{"extension in front of a mark", func(l *life) { l.records(100, 1, false, 0); l.extension(word, 0); l.mark(KindMark, 101) },
			seen{frames: "100+1", end: 101, stop: one, kind: -1, durable: 101}},
		{"extension in front of a torn frame", func(l *life) {
			l.records(100, 1, false, 0)
			l.extension(word, 0)
			l.data[l.records(101, 1, false, 0)+20]++
		}, seen{frames: "100+1", end: 101, stop: one, kind: -1}},
		{"full of single records, and a mark", func(l *life) {
			for i := range uint64(8) {
				l.records(100+i, 1, false, 100)
			}
			l.mark(KindMark, 108)
		}, seen{frames: "100+1 101+1 102+1 103+1 104+1 105+1 106+1 107+1", end: 108, stop: 8 * one, kind: KindMark, durable: 108}},
		{"full in one frame, and a mark", func(l *life) { l.records(100, 8, true, 0); l.mark(KindClosing, 108) },
			seen{frames: "100+8m", end: 108, stop: 16 + 8*testWidth, kind: KindClosing, durable: 108}},
		{"unknown kind behind a hole", func(l *life) { l.skip(); l.put(shape{kind: 5, count: 1, durable: 101}, word) }, seen{end: 100, kind: -1}},
		{"unknown kind, torn", func(l *life) { l.data[l.put(shape{kind: 5, count: 1}, word)+16]++ }, seen{end: 100, kind: -1}},
	} {
		l := newLife(head, 8)
		c.write(l)
		if got := seenOf(l.read(t)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestScanKnowsOnlyItsKinds(t *testing.T) {
	for kind := uint32(4); kind < 8; kind++ {
		for _, before := range []int{0, 2} {
			l := newLife(Header{First: 5}, 8)
			for i := range before {
				l.records(5+uint64(i), 1, false, 0)
			}
			l.put(shape{kind: kind, count: 2, more: kind == 6, durable: 5}, make([]byte, 16))
			if s, err := Read(0, l.data, l.h, 8); !errors.Is(err, disk.ErrVersion) {
				t.Errorf("kind %d behind %d frames: %+v, %v, want ErrVersion", kind, before, s, err)
			}
		}
	}
}

// TestScanTorn: a write of the last frame that stopped at any byte leaves the
// frames before it, whatever stands behind the tear.
func TestScanTorn(t *testing.T) {
	fresh := func() *life { return newLife(Header{First: 40, Salt: 2}, 8) }
	stale := func() *life {
		l := newLife(Header{First: 20, Salt: 1}, 8)
		for i := range uint64(8) {
			l.records(20+i, 1, false, 20+i)
		}
		l.mark(KindMark, 28)
		l.again(Header{First: 40, Salt: 2})
		return l
	}
	for name, old := range map[string]func() *life{"zeros": fresh, "stale frames": stale, "ones": func() *life {
		l := fresh()
		for i := range l.data[FramesAt:] {
			l.data[FramesAt+i] = 0xff
		}
		return l
	}} {
		whole := old()
		whole.records(40, 1, false, 40)
		whole.records(41, 2, false, 41)
		at := whole.records(43, 2, false, 43)
		for n := at; n <= whole.pos; n++ {
			torn := old().data
			copy(torn[FramesAt:], whole.data[FramesAt:n])
			want := seen{frames: "40+1 41+2", end: 43, stop: at - FramesAt, kind: -1, durable: 41}
			if n == whole.pos || slices.Equal(torn[n:whole.pos], whole.data[n:whole.pos]) {
				want = seen{frames: "40+1 41+2 43+2", end: 45, stop: whole.pos - FramesAt, kind: -1, durable: 43}
			}
			if got := seenOf(readBytes(t, torn, 8)); got != want {
				t.Fatalf("over %s, torn at byte %d: %+v, want %+v", name, n-at, got, want)
			}
		}
	}
}

// TestScanCutShort: a file that somebody cut at any byte is read to its last
// whole frame; the stream's capacity stands in for the file's.
func TestScanCutShort(t *testing.T) {
	l := newLife(Header{First: 40, Salt: 2}, 8)
	ends := []int64{FramesAt}
	for i := range uint64(8) {
		l.records(40+i, 1, false, 40)
		ends = append(ends, l.pos)
	}
	l.mark(KindMark, 48)
	for n := FramesAt; n <= len(l.data); n++ {
		s := readBytes(t, l.data[:n:n], 8)
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= int64(n) {
			whole++
		}
		if len(s.Frames) != whole || s.Stop != ends[whole] || s.StopKind == KindMark != (n == len(l.data)) {
			t.Fatalf("%d bytes: %+v, want %d frames", n, seenOf(s), whole)
		}
	}
}

// TestScanEveryDamage: one changed byte of any frame ends the replay there, and
// the frames behind it are seen.
func TestScanEveryDamage(t *testing.T) {
	l := newLife(Header{First: 40, Salt: 2}, 8)
	starts := []int64{l.records(40, 2, false, 40), l.records(42, 1, false, 42), l.records(43, 3, true, 43)}
	l.mark(KindMark, 46)
	frames := []string{"40+2", "42+1", "43+3m"}
	stop := func(off int64) (n int) {
		for n < 2 && off >= starts[n+1] {
			n++
		}
		return n
	}
	for off := int64(FramesAt); off < l.pos; off++ {
		for _, bit := range []byte{1, 16, 128} {
			l.data[off] ^= bit
			got := seenOf(l.read(t))
			l.data[off] ^= bit
			n := stop(off)
			want := seen{stop: starts[n] - FramesAt, kind: -1, durable: 46, end: []uint64{40, 42, 43}[n]}
			for i, f := range frames {
				switch {
				case i < n && want.frames != "":
					want.frames += " " + f
				case i < n:
					want.frames = f
				case i > n && want.behind != "":
					want.behind += " " + f
				case i > n:
					want.behind = f
				}
			}
			if got != want {
				t.Fatalf("byte %d damaged by %#x: %+v, want %+v", off, bit, got, want)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	data := newLife(Header{}, 8).data
	for name, c := range map[string]struct {
		data []byte
		h    Header
	}{
		"no width":          {data, Header{}},
		"narrow":            {data, Header{Width: 8}},
		"width of odd size": {data, Header{Width: 28}},
		"short file":        {data[:FramesAt-1], Header{Width: 24}},
		"no room":           {data, Header{Width: 24, First: math.MaxUint64 - 7}},
	} {
		if s, err := Read(0, c.data, c.h, 8); !errors.Is(err, disk.ErrCorrupt) {
			t.Errorf("%s: %+v, %v, want ErrCorrupt", name, s, err)
		}
	}
	if _, err := Read(0, data, Header{Width: 24, First: math.MaxUint64 - 8}, 8); err != nil {
		t.Errorf("the last numbers there are: %v", err)
	}
}

func TestScanRecords(t *testing.T) {
	l := newLife(Header{First: 7}, 8)
	l.records(7, 1, false, 0)
	l.records(8, 4, false, 0)
	s := l.read(t)
	if got := s.Records(s.Frames[1]); !slices.Equal(got, rowsOf(8, 4, testWidth)) {
		t.Errorf("Records = %x", got)
	}
}

// TestScanIsLinear: old records behind the stop may look like the heads of
// frames of any length. Without a bound this file takes minutes.
func TestScanIsLinear(t *testing.T) {
	const capacity = 1 << 16
	for _, kind := range []uint32{KindRecords, KindExtension} {
		l := newLife(Header{First: 1000, Salt: 3, Width: 24}, capacity)
		l.records(1000, 1, false, 0)
		stop := l.pos
		for i := uint64(0); l.pos+24 <= int64(len(l.data)); i++ {
			// Three words: a head that reaches as far as it can, durable, a number.
			b, left := l.data[l.pos:], (len(l.data)-int(l.pos)-16)/8
			if kind == KindRecords {
				left = min(left/3, capacity-int(i))
			}
			binary.LittleEndian.PutUint32(b[4:], uint32(max(left, 0))+kind<<28)
			binary.LittleEndian.PutUint64(b[16:], 1000+i)
			l.pos += 24
		}
		r := &scanner{data: l.data, width: 24, first: 1000, capacity: capacity, seed: seed(3)}
		s := &Scan{Data: l.data, Stop: stop}
		r.behind(s)
		if len(s.Behind) > 0 {
			t.Errorf("kind %d: found %v", kind, s.Behind)
		}
		if r.sums == nil || r.spent < 1000*int64(len(l.data)) {
			t.Errorf("kind %d: frames of %d bytes in a file of %d are no hard case", kind, r.spent, len(l.data))
		}
	}
}

// TestScanFindsFramesAmongHostileBytes: the short way to a checksum finds what
// the long one does.
func TestScanFindsFramesAmongHostileBytes(t *testing.T) {
	l := newLife(Header{First: 1000, Salt: 3, Width: 24}, 4096)
	for at := FramesAt; at+8 <= len(l.data); at += 8 {
		binary.LittleEndian.PutUint32(l.data[at+4:], uint32(len(l.data)-at-16)/8+KindExtension<<28)
	}
	for at := FramesAt + 8; at+8 <= len(l.data); at += 16 {
		binary.LittleEndian.PutUint64(l.data[at:], 0)
	}
	l.pos = int64(len(l.data))&^15 - 4096
	l.records(1100, 3, false, 1050)
	l.pos += 32
	l.mark(KindMark, 1070)
	if got := seenOf(l.read(t)); got.behind != "1100+3" || got.durable != 1070 {
		t.Errorf("%+v, want the frame and the mark at the end", got)
	}
}
