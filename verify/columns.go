package verify

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"github.com/klauspost/crc32"
)

// columns walks the body of a column file: the columns with the zeros before
// each, and the footer.
func (w *segmentWalk) columns() error {
	raw, err := w.findFooter()
	if err != nil {
		return err
	}
	s := w.schema
	if w.footer != nil {
		s = w.footer.Meta.Schema
	}
	if s == nil {
		w.put(Range{Length: w.src.size - headerSize, Meaning: "columns and footer", Class: Data, Check: None})
		w.miss(KindFooter, "no footer at the end has crc %08x", w.header.CRC)
		return nil
	}
	if s.Width() != int(w.header.Width) {
		w.fail("width", KindHeader, "records of the schema have %d", s.Width())
	}
	geo, ok := segment.Locate(s, segment.Columns, w.count)
	if !ok || geo.Size > w.src.size {
		w.put(Range{Length: w.src.size - headerSize, Meaning: "columns and footer", Class: Data, Check: None})
		w.miss(KindSize, "%d records need %d bytes, there are %d", w.count, geo.Size, w.src.size)
		return nil
	}
	for c := range 1 + s.NumFields() {
		if err := w.zeros(geo.Column[c]); err != nil {
			return err
		}
		if err := w.column(s, c); err != nil {
			return err
		}
	}
	if err := w.zeros(geo.Footer); err != nil {
		return err
	}
	if w.footer == nil {
		w.put(Range{Length: geo.Size - geo.Footer, Meaning: "footer", Class: Meta, Check: Bad, kind: KindFooter,
			Detail: fmt.Sprintf("no footer at the end has crc %08x", w.header.CRC)})
	} else {
		w.putFooter(raw)
	}
	w.tail()
	return nil
}

// findFooter looks for the footer that the header's CRC is of: it ends the file.
func (w *segmentWalk) findFooter() ([]byte, error) {
	tail := make([]byte, min(w.src.size-headerSize, streamEntry+columnsMax*columnEntry))
	if err := w.src.read(tail, w.src.size-int64(len(tail))); err != nil {
		return nil, err
	}
	for n := 1; n <= columnsMax && streamEntry+n*columnEntry <= len(tail); n++ {
		b := tail[len(tail)-streamEntry-n*columnEntry:]
		if crc32.ChecksumIEEE(b) != w.header.CRC {
			continue
		}
		if f, err := segment.DecodeFooter(b); err == nil {
			w.footer = f
			return b, nil
		}
	}
	return nil, nil
}

// zeros walks the padding up to offset to.
func (w *segmentWalk) zeros(to int64) error {
	bad := int64(-1)
	at := w.end()
	err := w.src.each(at, to-at, func(b []byte) {
		for _, c := range b {
			if c != 0 && bad < 0 {
				bad = at
			}
			at++
		}
	})
	if err != nil {
		return err
	}
	r := Range{Length: to - w.end(), Meaning: "padding", Class: Meta, Check: OK}
	if bad >= 0 {
		r.Check, r.kind, r.Detail = Bad, KindPadding, fmt.Sprintf("byte %d is not zero", bad)
	}
	w.put(r)
	return nil
}

// column walks column c: 0 is ts, then the fields as declared.
func (w *segmentWalk) column(s *schema.Schema, c int) error {
	field := columnField(s, c)
	size := int64(w.count) * int64(field.Kind.Size())
	x := newExtent(field.Kind)
	sum := uint32(0)
	err := w.src.each(w.end(), size, func(b []byte) {
		sum = crc32.Update(sum, crc32.IEEETable, b)
		x.add(b)
	})
	if err != nil {
		return err
	}
	r := Range{Length: size, Meaning: "column " + field.Name, Class: Data, Check: None,
		Value: fmt.Sprintf("%d %v", w.count, field.Kind)}
	if w.footer != nil {
		r.Check = OK
		if want := w.footer.Columns[c]; sum != want.CRC {
			r.Check, r.kind, r.Detail = Bad, KindColumn, fmt.Sprintf("crc is %08x, the footer says %08x", sum, want.CRC)
		} else if x.value(x.lo) != want.Min || x.value(x.hi) != want.Max {
			r.Check, r.kind = Bad, KindColumn
			r.Detail = fmt.Sprintf("values are %s to %s, the footer says %s to %s", field.AppendValue(nil, x.value(x.lo)),
				field.AppendValue(nil, x.value(x.hi)), field.AppendValue(nil, want.Min), field.AppendValue(nil, want.Max))
		}
	}
	w.put(r)
	if c == 0 && r.Check == OK {
		w.agree(x)
	}
	return nil
}

func columnField(s *schema.Schema, c int) schema.Field {
	if c == 0 {
		return schema.Field{Name: "ts", Kind: schema.I64}
	}
	return s.Field(c - 1)
}

// putFooter describes a footer, whose CRC was found right.
func (w *segmentWalk) putFooter(b []byte) {
	s := w.footer.Meta.Schema
	if s.Tag(w.footer.Meta.ID) != w.header.Tag {
		w.fail("tag", KindHeader, "id and columns of the footer make %08x", s.Tag(w.footer.Meta.ID))
	}
	if w.quiet {
		w.put(Range{Length: int64(len(b)), Meaning: "footer", Class: Meta, Check: OK})
		return
	}
	for _, f := range footerFields {
		w.put(Range{Length: f.len, Meaning: "footer " + f.name, Class: Meta, Check: OK, Value: footerValue(f, b[f.off:f.off+f.len])})
	}
	for c := range w.footer.Columns {
		entry := b[streamEntry+c*columnEntry:]
		for _, f := range entryFields {
			w.put(Range{Length: f.len, Meaning: columnField(s, c).Name + " " + f.name, Class: Meta, Check: OK,
				Value: entryValue(columnField(s, c).Kind, f, entry[f.off:f.off+f.len])})
		}
	}
}

func footerValue(f fieldAt, b []byte) string {
	switch f.name {
	case "id":
		return fmt.Sprintf("%x", b)
	case "unit":
		return schema.Unit(b[0]).String()
	case "zeros":
		return ""
	}
	return strconv.FormatUint(unsigned(b), 10)
}

func entryValue(k schema.Kind, f fieldAt, b []byte) string {
	switch f.name {
	case "min", "max":
		if k == schema.U64 {
			return strconv.FormatUint(unsigned(b), 10)
		}
		return strconv.FormatInt(int64(unsigned(b)), 10)
	case "name":
		return strings.TrimRight(string(b), "\x00")
	case "crc":
		return fmt.Sprintf("%08x", unsigned(b))
	case "kind":
		return schema.Kind(b[0]).String()
	case "zeros":
		return ""
	}
	return strconv.FormatUint(unsigned(b), 10)
}

// An extent is the smallest and largest of values of one kind, and whether they
// ever decreased. Inside it values are signed and in their order: a U64 has its
// highest bit turned.
type extent struct {
	kind   schema.Kind
	lo, hi int64
	last   int64
	sorted bool
}

func newExtent(k schema.Kind) extent {
	return extent{kind: k, lo: math.MaxInt64, hi: math.MinInt64, last: math.MinInt64, sorted: true}
}

// value turns lo or hi back into the value's bits.
func (x *extent) value(v int64) int64 {
	if x.kind == schema.U64 {
		return v ^ math.MinInt64
	}
	return v
}

// add takes in whole values.
func (x *extent) add(b []byte) {
	le := binary.LittleEndian
	switch x.kind {
	case schema.I8:
		for _, c := range b {
			x.one(int64(int8(c)))
		}
	case schema.U8:
		for _, c := range b {
			x.one(int64(c))
		}
	case schema.I16:
		for ; len(b) >= 2; b = b[2:] {
			x.one(int64(int16(le.Uint16(b))))
		}
	case schema.U16:
		for ; len(b) >= 2; b = b[2:] {
			x.one(int64(le.Uint16(b)))
		}
	case schema.I32:
		for ; len(b) >= 4; b = b[4:] {
			x.one(int64(int32(le.Uint32(b))))
		}
	case schema.U32:
		for ; len(b) >= 4; b = b[4:] {
			x.one(int64(le.Uint32(b)))
		}
	case schema.I64:
		for ; len(b) >= 8; b = b[8:] {
			x.one(int64(le.Uint64(b)))
		}
	case schema.U64:
		for ; len(b) >= 8; b = b[8:] {
			x.one(int64(le.Uint64(b)) ^ math.MinInt64)
		}
	}
}

func (x *extent) one(v int64) {
	x.lo, x.hi = min(x.lo, v), max(x.hi, v)
	x.sorted = x.sorted && x.last <= v
	x.last = v
}
