package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/disk/frozen"
)

// allocated is how much f allocates, bytes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func FuzzDecodeHeaders(f *testing.F) {
	newer := sample
	newer.Generation++
	f.Add(sample.Append(nil), sample.Append(nil), 4096, false)
	f.Add(sample.Append(nil), newer.Append(nil), 4096, true)
	f.Add([]byte{}, later(2), 5000, false)
	f.Add(sample.Append(nil), []byte{}, 100, false)
	f.Fuzz(func(t *testing.T, one, two []byte, size int, repair bool) {
		b := make([]byte, min(max(size, 0), 2*FramesAt))
		for at, header := range map[int][]byte{0: one, HeaderCopy: two} {
			if at < len(b) {
				copy(b[at:], header)
			}
			if repair && at+HeaderSize <= len(b) { // let the fuzzer past the checksums
				copy(b[at:], magic[:])
				sumHeader(b[at:])
			}
		}
		h, ok, err := DecodeHeaders(b)
		switch {
		case err != nil:
			if ok || !errors.Is(err, disk.ErrVersion) {
				t.Fatalf("%v, %v", ok, err)
			}
		case ok:
			again, ok, err := DecodeHeader(h.Append(nil))
			if again != h || !ok || err != nil {
				t.Fatalf("%+v encoded and decoded is %+v, %v, %v", h, again, ok, err)
			}
		case repair && len(b) >= FramesAt:
			t.Fatal("a header whose checksum holds was not seen")
		}
	})
}

func FuzzRead(f *testing.F) {
	add := func(l *life, write func(l *life)) {
		write(l)
		f.Add(l.data[FramesAt:], l.h.Width, l.h.First, l.h.Salt, uint16(l.capacity()), false)
		f.Add(l.data[FramesAt:], l.h.Width, l.h.First, l.h.Salt, uint16(l.capacity()), true)
	}
	add(newLife(Header{First: 7, Salt: 9}, 4), func(l *life) { l.records(7, 2, false, 0); l.records(9, 1, true, 8); l.mark(KindClosing, 10) })
	add(newLife(Header{First: 7, Salt: 9}, 4), func(l *life) { l.extension(make([]byte, 16), 0); l.skip(); l.records(9, 1, false, 8) })
	add(newLife(Header{First: 0, Width: 16}, 2), func(l *life) { l.put(shape{kind: 6, count: 1}, make([]byte, 8)) })
	f.Add([]byte{}, uint16(24), uint64(math.MaxUint64), uint64(0), uint16(1), false)
	f.Fuzz(func(t *testing.T, frames []byte, width uint16, first, salt uint64, capacity uint16, repair bool) {
		if len(frames) > 1<<16 {
			return
		}
		data := append(make([]byte, FramesAt), frames...)
		h := Header{Width: width, First: first, Salt: salt}
		if repair && width >= 16 {
			repairFrames(data, h)
		}
		var s *Scan
		var err error
		if n := allocated(func() { s, err = Read(0, data, h, int(capacity)) }); n > 64<<10+16*uint64(len(data)) {
			t.Fatalf("%d bytes allocated for %d", n, len(data))
		}
		if err != nil {
			if s != nil || !errors.Is(err, disk.ErrVersion) && !errors.Is(err, disk.ErrCorrupt) {
				t.Fatalf("%v, %v", s, err)
			}
			return
		}
		room := uint64(capacity)
		if made, ok := Capacity(int64(len(data)), int(width)); ok {
			room = max(room, uint64(made))
		}
		want, _ := naive{data, h, room}.read()
		if got := seenOf(s); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		for _, frame := range append(s.Frames, s.Behind...) {
			if len(s.Records(frame)) != frame.Count*int(width) {
				t.Fatalf("%+v has other records", frame)
			}
		}
	})
}

// FuzzFollow: whatever stands in a journal, a Follower finds at least what a scan
// does, up to the end of a batch's part.
func FuzzFollow(f *testing.F) {
	add := func(l *life, write func(l *life)) {
		write(l)
		for _, repair := range []bool{false, true} {
			f.Add(l.data[FramesAt:], l.h.Width, l.h.First, l.h.Salt, repair)
		}
	}
	add(newLife(Header{First: 7, Salt: 9}, 4), func(l *life) { l.records(7, 2, false, 0); l.records(9, 1, true, 8); l.mark(KindClosing, 10) })
	add(newLife(Header{First: 7, Salt: 9}, 4), func(l *life) { l.records(7, 1, false, 0); l.extension(make([]byte, 16), 0); l.records(8, 1, false, 8) })
	// Counts whose bytes don't fit 32 bits: what a former life left there says anything.
	for _, kind := range []uint32{KindRecords, KindExtension, KindExtension + 1} {
		for _, count := range []uint32{countMask, 1 << 26, 1<<28/24 + 1} {
			b := binary.LittleEndian.AppendUint32(make([]byte, 4, 96), kind<<28|count)
			f.Add(b[:96], uint16(144), uint64(0), uint64(1), true)
		}
	}
	f.Fuzz(func(t *testing.T, frames []byte, width uint16, first, salt uint64, repair bool) {
		if len(frames) > 1<<16 || width < 16 || width%8 != 0 {
			return
		}
		h := Header{Width: width, First: first, Salt: salt}
		data := append(make([]byte, FramesAt), frames...)
		copy(data, h.Append(nil))
		if repair {
			repairFrames(data, h)
		}
		var want []byte
		if s, err := Read(2, data, h, 4); err == nil {
			for _, frame := range s.Frames {
				if want = append(want, s.Records(frame)...); frame.More {
					break
				}
			}
		}
		in, err := Follow(frozen.Dir{Name(2): data}, frozen.Root, &Scan{N: 2, Header: h, Stop: FramesAt, End: first})
		if err != nil {
			t.Fatal(err)
		}
		var rows []byte
		if n := allocated(func() { rows, _, err = in.Next(nil) }); n > 256<<10+8*uint64(len(data)) {
			t.Fatalf("%d bytes allocated for %d", n, len(data))
		}
		if err != nil || !bytes.HasPrefix(rows, want) || len(rows)%int(width) != 0 || in.Seq()-first != uint64(len(rows)/int(width)) {
			t.Fatalf("%d bytes, to %d, %v; a scan has %d", len(rows), in.Seq(), err, len(want))
		}
	})
}

// repairFrames makes every checksum right that stands in a chain of frames from
// the first on, so that the fuzzer gets behind them.
func repairFrames(data []byte, h Header) {
	r := &scanner{data: data, width: int(h.Width), first: h.First, capacity: 1 << 16}
	for off := int64(FramesAt); ; {
		head, ok := r.head(off)
		if !ok {
			return
		}
		sumFrame(data[off:off+head.size], h.Salt)
		off += head.size
	}
}
