package verify

import (
	"bytes"
	"context"
	"encoding/binary"

	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"github.com/klauspost/crc32"
)

// A salvage is what a damaged sealed file still proves.
type salvage struct {
	image  []byte // the file as it was, every check of which holds
	header segment.Header
}

// mend tries to prove the records of a damaged sealed file of a stream, and
// makes the file anew around them: its header, footer and padding follow from
// the records and from what the stream is. named is what the file's name says is
// its first number; a header that is whole may say another. It is false if
// something that holds records can't be proven.
//
// Whatever the header says of the count, the file's size says it too.
func mend(b []byte, s *schema.Schema, m meta.Stream, named uint64) (salvage, bool) {
	if len(b) < headerSize {
		return salvage{}, false
	}
	first := named
	if h, err := segment.DecodeHeader(b); err == nil && !h.Legacy {
		first = h.First
		if n := segment.Size(s, h.Layout(), h.Count); n > 0 && n < int64(len(b)) {
			b = b[:n] // what stands behind the end belongs to nothing
		}
	}
	for _, l := range []segment.Layout{segment.Columns, segment.Rows} {
		// Columns begin at multiples of 64, so that up to eight counts give a size.
		for n := countBySize(s, l, int64(len(b))); n > 0 && segment.Size(s, l, n) == int64(len(b)); n-- {
			x := mending{old: b, new: bytes.Clone(b), schema: s, stream: m, first: first, count: n}
			x.id, _ = meta.ParseID(m.ID)
			if h, ok := x.layout(l); ok && sound(x.new, s, first) {
				return salvage{x.new, h}, true
			}
		}
	}
	return salvage{}, false
}

// sound tells whether every check of an image holds.
func sound(image []byte, s *schema.Schema, first uint64) bool {
	w := &segmentWalk{schema: s, quiet: true, name: segment.Name(first),
		src: &source{ctx: context.Background(), r: bytes.NewReader(image), size: int64(len(image))}}
	if w.run() != nil {
		return false
	}
	for _, r := range w.ranges {
		if r.Check == Bad {
			return false
		}
	}
	return true
}

// A mending is one try to make a file anew.
type mending struct {
	old, new     []byte
	schema       *schema.Schema
	stream       meta.Stream
	id           [16]byte
	first, count uint64
}

// stored returns a field of the old header.
func (x *mending) stored(off, n int) uint64 { return unsigned(x.old[off : off+n]) }

func (x *mending) layout(l segment.Layout) (segment.Header, bool) {
	h := segment.Header{Version: 2, Width: uint16(x.schema.Width()), First: x.first, Count: x.count,
		Flags: uint32(x.stored(44, 4)), SealedAt: int64(x.stored(48, 8)), Tag: x.schema.Tag(x.id)}
	if h.Flags > segment.FlagSorted|segment.FlagDurable {
		h.Flags = 0
	}
	var proven bool
	var t extent
	if l == segment.Rows {
		h.Version = 1
		h.CRC = crc32.ChecksumIEEE(x.old[headerSize:])
		proven = h.CRC == uint32(x.stored(40, 4))
		a := rowAudit{width: x.schema.Width(), next: x.first, time: newExtent(schema.I64)}
		if a.add(x.old[headerSize:]); a.bad != "" {
			return h, false
		}
		t = a.time
	} else {
		h.CRC, t, proven = x.columns()
	}
	h.MinTime, h.MaxTime = t.lo, t.hi
	h.Flags &^= segment.FlagSorted
	if t.sorted {
		h.Flags |= segment.FlagSorted
	}
	copy(x.new, h.Append(nil))
	// Where one field of the header was damaged, its CRC proves the rest.
	whole := binary.LittleEndian.Uint32(x.new[60:]) == uint32(x.stored(60, 4))
	if x.stored(8, 8) != x.first && !whole {
		return h, false // nothing but its name says where the file belongs
	}
	return h, proven || whole
}

// columns makes padding and footer anew, and returns the footer's CRC. The
// columns are proven if that is what the header says, or if the old footer is
// this stream's and has the CRC of each of them.
func (x *mending) columns() (sum uint32, t extent, proven bool) {
	geo, _ := segment.Locate(x.schema, segment.Columns, x.count)
	f := segment.Footer{Meta: segment.Meta{ID: x.id, Capacity: uint32(x.stream.Capacity), Schema: x.schema}}
	old, err := segment.DecodeFooter(x.old[geo.Footer:])
	stands := err == nil && old.Meta.ID == x.id && old.Meta.Schema.Equal(x.schema)
	if stands {
		f.Meta.Capacity = old.Meta.Capacity
	}
	end := int64(headerSize)
	for c := range 1 + x.schema.NumFields() {
		k := columnField(x.schema, c).Kind
		clear(x.new[end:geo.Column[c]])
		end = geo.Column[c] + int64(x.count)*int64(k.Size())
		b := x.old[geo.Column[c]:end]
		e := newExtent(k)
		e.add(b)
		if c == 0 {
			t = e
		}
		f.Columns = append(f.Columns, segment.ColumnInfo{Min: e.value(e.lo), Max: e.value(e.hi), CRC: crc32.ChecksumIEEE(b)})
		stands = stands && old.Columns[c].CRC == f.Columns[c].CRC
	}
	clear(x.new[end:geo.Footer])
	footer := f.Append(nil)
	copy(x.new[geo.Footer:], footer)
	sum = crc32.ChecksumIEEE(footer)
	return sum, t, stands || sum == uint32(x.stored(40, 4))
}

// rowsOf appends the records [from, to) of a sound image in row form.
func rowsOf(dst, image []byte, s *schema.Schema, h segment.Header, from, to uint64) []byte {
	width := s.Width()
	if h.Layout() == segment.Rows {
		at := func(seq uint64) int { return headerSize + int(seq-h.First)*width }
		return append(dst, image[at(from):at(to)]...)
	}
	geo, _ := segment.Locate(s, segment.Columns, h.Count)
	start := len(dst)
	dst = append(dst, make([]byte, int(to-from)*width)...)
	for i, seq := 0, from; seq < to; i, seq = i+1, seq+1 {
		rec := dst[start+i*width:]
		schema.PutSeq(rec, seq)
		for c := range 1 + s.NumFields() {
			n, off := columnField(s, c).Kind.Size(), 8
			if c > 0 {
				off = s.Offset(c - 1)
			}
			at := geo.Column[c] + int64(seq-h.First)*int64(n)
			copy(rec[off:off+n], image[at:])
		}
	}
	return dst
}
