package journal

import (
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// A life writes one life of a journal into memory, by the words of
// docs/format.md and not by the code under test.
type life struct {
	data  []byte
	h     Header
	pos   int64
	width int
}

const testWidth = 24

// newLife is an empty journal of room for capacity records, with both headers.
func newLife(h Header, capacity int) *life {
	if h.Width == 0 {
		h.Width = testWidth
	}
	l := &life{data: make([]byte, 4096+capacity*(int(h.Width)+16)+16), h: h, pos: 4096, width: int(h.Width)}
	l.header()
	return l
}

func (l *life) header() {
	h := l.h.Append(nil)
	copy(l.data, h)
	copy(l.data[2048:], h)
}

// again starts the next life of the same journal over the bytes of this one.
func (l *life) again(h Header) {
	h.Width = l.h.Width
	l.h, l.pos = h, 4096
	l.header()
}

// A shape is what a frame says besides its payload.
type shape struct {
	kind    uint32
	count   int
	more    bool
	durable uint64
}

// put writes a frame with its checksum and returns its offset.
func (l *life) put(s shape, payload []byte) int64 {
	at := l.pos
	b := l.data[at:]
	word := uint32(s.count) + s.kind*(1<<28)
	if s.more {
		word += 1 << 31
	}
	binary.LittleEndian.PutUint32(b[4:], word)
	binary.LittleEndian.PutUint64(b[8:], s.durable)
	copy(b[16:], payload)
	l.pos += 16 + int64(len(payload))
	sumFrame(l.data[at:l.pos], l.h.Salt)
	return at
}

// sumFrame puts the checksum over the salt and the frame's bytes into place.
func sumFrame(frame []byte, salt uint64) {
	c := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_ = binary.Write(c, binary.LittleEndian, salt)
	_, _ = c.Write(frame[4:])
	binary.LittleEndian.PutUint32(frame, c.Sum32())
}

// records appends a frame of n records that begin with number first.
func (l *life) records(first uint64, n int, more bool, durable uint64) int64 {
	return l.put(shape{KindRecords, n, more, durable}, rowsOf(first, n, l.width))
}

func (l *life) extension(data []byte, durable uint64) int64 {
	return l.put(shape{KindExtension, len(data) / 8, false, durable}, data)
}

// mark leaves a mark where the next frame goes.
func (l *life) mark(kind uint32, durable uint64) {
	at := l.put(shape{kind: kind, durable: durable}, nil)
	l.pos = at
}

// skip leaves a hole of one record's frame.
func (l *life) skip() { l.pos += int64(16 + l.width) }

func (l *life) read(t *testing.T) *Scan {
	t.Helper()
	return readBytes(t, l.data, l.capacity())
}

func (l *life) capacity() int { return (len(l.data) - 4096 - 16) / (l.width + 16) }

// readBytes scans a journal as recovery does: headers first.
func readBytes(t *testing.T, data []byte, capacity int) *Scan {
	t.Helper()
	h, ok, err := DecodeHeaders(data)
	if !ok || err != nil {
		t.Fatalf("DecodeHeaders: %v, %v", ok, err)
	}
	s, err := Read(0, data, h, capacity)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rowsOf are n records of a width, numbered from first, each byte of which
// tells its number and place.
func rowsOf(first uint64, n, width int) []byte {
	b := make([]byte, 0, n*width)
	for i := range uint64(n) {
		b = binary.LittleEndian.AppendUint64(b, first+i)
		for k := 8; k < width; k++ {
			b = append(b, byte(first+i)*31+byte(k))
		}
	}
	return b
}
