package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"testing"
	"testing/quick"

	"example.com/ledger/internal/disk"
)

var sample = Header{Width: 40, Generation: 5, First: 65536, Salt: 0x1122334455667788, Base: 65540,
	ID: [16]byte{0: 0xa0, 1: 0xa1, 15: 0xaf}, Tag: 0xdeadbeef, Mode: 2}

// TestHeaderBytes pins the header of version 1. If it fails, journals in the
// field stop opening: add version 2 instead of running -update.
func TestHeaderBytes(t *testing.T) {
	checkGolden(t, "header.golden", sample.Append(nil), []part{
		{4, "magic OXLJ"}, {2, "version 1"}, {2, "width 40"}, {8, "generation 5"}, {8, "first_seq 65536"},
		{8, "salt"}, {8, "durable_base 65540"}, {16, "stream id"}, {4, "tag"}, {1, "mode 2, Os"}, {3, "zeros"},
		{4, "CRC-32C of 0-63"},
	})
	h, ok, err := DecodeHeader(readGolden(t, "header.golden"))
	if h != sample || !ok || err != nil {
		t.Errorf("DecodeHeader of the golden bytes = %+v, %v, %v, want %+v", h, ok, err, sample)
	}
	if got := string(sample.Append([]byte("xy"))[:2]); got != "xy" {
		t.Errorf("Append changed what stood before: %q", got)
	}
}

// TestFrameBytes pins the frames of version 1, one of each kind, as a Journal
// writes them. The rule of TestHeaderBytes holds.
func TestFrameBytes(t *testing.T) {
	j := &Journal{m: heap{}, bytes: make([]byte, Size(4, 24)), size: Size(4, 24)}
	j.Prepare(Header{Width: 24, Salt: sample.Salt})
	for _, err := range []error{
		j.Extension([]byte("producer\x07\x00\x00\x00\x00\x00\x00\x00"), 99),
		j.Records(rowsOf(100, 2, 24), false, 100),
		j.Records(rowsOf(102, 1, 24), true, 102),
		j.Mark(false, 103),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := append([]byte(nil), j.bytes[FramesAt:j.pos+FrameSize]...)
	if err := j.Mark(true, 103); err != nil {
		t.Fatal(err)
	}
	b = append(b, j.bytes[j.pos:j.pos+FrameSize]...)
	head := func(what string, durable string) []part {
		return []part{{4, "CRC-32C of the salt and what follows"}, {4, what}, {8, "durable " + durable}}
	}
	var parts []part
	add := func(ps ...part) { parts = append(parts, ps...) }
	add(head("kind 3 extension, 2 words", "99")...)
	add(part{8, "word 0"}, part{8, "word 1"})
	add(head("kind 0 records, 2 of them", "100")...)
	add(part{8, "seq 100"}, part{16, "ts and fields"}, part{8, "seq 101"}, part{16, "ts and fields"})
	add(head("kind 0 records, 1 of them, the batch goes on", "102")...)
	add(part{8, "seq 102"}, part{16, "ts and fields"})
	add(head("kind 1 mark", "103")...)
	add(head("kind 2 closing mark", "103")...)
	checkGolden(t, "frames.golden", b, parts)

	l := newLife(Header{Width: 24, Salt: sample.Salt, First: 100}, 4)
	copy(l.data[FramesAt:], readGolden(t, "frames.golden"))
	s := l.read(t)
	if len(s.Frames) != 2 || s.End != 103 || s.StopKind != KindMark || s.Durable != 103 || len(s.Exts) != 1 {
		t.Errorf("Read of the golden bytes = %+v", s)
	}
}

// heap stands for a mapping in tests that need none.
type heap struct{ disk.Mapping }

func TestDecodeHeaderRefuses(t *testing.T) {
	good := sample.Append(nil)
	for bit := range len(good) * 8 {
		b := append([]byte(nil), good...)
		b[bit/8] ^= 1 << (bit % 8)
		if h, ok, err := DecodeHeader(b); ok || err != nil {
			t.Fatalf("with bit %d turned: %+v, %v, %v", bit, h, ok, err)
		}
	}
	for n := range len(good) {
		if h, ok, err := DecodeHeader(good[:n]); ok || err != nil {
			t.Fatalf("%d bytes: %+v, %v, %v", n, h, ok, err)
		}
	}
	if _, ok, err := DecodeHeader(make([]byte, HeaderSize)); ok || err != nil {
		t.Errorf("zeros: %v, %v", ok, err)
	}
}

// later is a whole header of another version.
func later(version uint16) []byte {
	b := sample.Append(nil)
	binary.LittleEndian.PutUint16(b[4:], version)
	sumHeader(b)
	return b
}

// sumHeader puts a header's checksum into place.
func sumHeader(b []byte) {
	binary.LittleEndian.PutUint32(b[64:], crc32.Checksum(b[:64], crc32.MakeTable(crc32.Castagnoli)))
}

func TestDecodeHeaders(t *testing.T) {
	old, young := sample, sample
	young.Generation, young.First = 6, 70000
	broken := sample.Append(nil)
	broken[8] ^= 1
	for _, c := range []struct {
		name     string
		one, two []byte
		want     Header
		ok       bool
		err      error
	}{
		{"none", nil, nil, Header{}, false, nil},
		{"both alike", old.Append(nil), old.Append(nil), old, true, nil},
		{"first newer", young.Append(nil), old.Append(nil), young, true, nil},
		{"second newer", old.Append(nil), young.Append(nil), young, true, nil},
		{"first broken", broken, old.Append(nil), old, true, nil},
		{"second broken", old.Append(nil), broken, old, true, nil},
		{"newer one broken", broken, old.Append(nil), old, true, nil},
		{"both broken", broken, broken, Header{}, false, nil},
		{"first of a later version", later(2), old.Append(nil), Header{}, false, disk.ErrVersion},
		{"second of a later version", old.Append(nil), later(2), Header{}, false, disk.ErrVersion},
		{"only a later version", later(9), nil, Header{}, false, disk.ErrVersion},
		{"version 0", later(0), nil, Header{}, false, disk.ErrVersion},
	} {
		page := make([]byte, FramesAt)
		copy(page, c.one)
		copy(page[HeaderCopy:], c.two)
		h, ok, err := DecodeHeaders(page)
		if h != c.want || ok != c.ok || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v, %v, want %+v, %v, %v", c.name, h, ok, err, c.want, c.ok, c.err)
		}
	}
	if _, ok, err := DecodeHeaders(newLife(sample, 1).data[:FramesAt-1]); ok || err != nil {
		t.Errorf("a file shorter than its headers: %v, %v", ok, err)
	}
}

func TestSize(t *testing.T) {
	if got := Size(65536, 40); got != 4096+65536*56+16 {
		t.Errorf("Size(65536, 40) = %d", got)
	}
	inverse := func(c uint32, w uint8) bool {
		capacity, width := int(c%countMask)+1, 16+8*int(w%17)
		size := Size(capacity, width)
		got, ok := Capacity(size, width)
		_, near := Capacity(size+1, width)
		_, nearer := Capacity(size-1, width)
		return ok && got == capacity && !near && !nearer
	}
	if err := quick.Check(inverse, nil); err != nil {
		t.Error(err)
	}
	for _, size := range []int64{math.MinInt64, -1, 0, 1, FramesAt, Size(0, 40), Size(1, 40) - 8, Size(countMask+1, 40), math.MaxInt64} {
		if c, ok := Capacity(size, 40); ok {
			t.Errorf("Capacity(%d) = %d", size, c)
		}
	}
}

func TestNames(t *testing.T) {
	for n := range Ring {
		if got, ok := ParseName(Name(n)); got != n || !ok {
			t.Errorf("ParseName(%s) = %d, %v", Name(n), got, ok)
		}
	}
	for _, name := range []string{"", "journal", "journal.", "journal.4", "journal.9", "journal.-1", "journal.00", "journal.0 ",
		"journal.0.tmp", "Journal.0", "xjournal.0", "journal.a", "journal.\xff"} {
		if n, ok := ParseName(name); ok {
			t.Errorf("ParseName(%q) = %d", name, n)
		}
	}
}
