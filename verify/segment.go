package verify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"github.com/klauspost/crc32"
)

// The fields of a segment's header and of a column file's footer, as
// docs/format.md has them. They are said here a second time on purpose: what
// checks files shares as little as it can with what writes them.
type fieldAt struct {
	off, len int64
	name     string
}

var headerFields = []fieldAt{
	{0, 4, "magic"}, {4, 2, "version"}, {6, 2, "width"}, {8, 8, "first_seq"}, {16, 8, "count"},
	{24, 8, "min_ts"}, {32, 8, "max_ts"}, {40, 4, "crc"}, {44, 4, "flags"}, {48, 8, "sealed_at"},
	{56, 4, "tag"}, {60, 4, "header_crc"},
}

var footerFields = []fieldAt{
	{0, 16, "id"}, {16, 4, "capacity"}, {20, 1, "unit"}, {21, 1, "columns"}, {22, 42, "zeros"},
}

var entryFields = []fieldAt{
	{0, 8, "min"}, {8, 8, "max"}, {16, 12, "name"}, {28, 4, "crc"}, {32, 1, "kind"}, {33, 1, "scale"}, {34, 14, "zeros"},
}

const (
	headerSize  = 64
	alignment   = 64
	streamEntry = 64
	columnEntry = 48
	columnsMax  = 1 + schema.MaxFields
)

// The tables above, checked by the compiler.
const (
	_ uint = headerSize - segment.HeaderSize
	_ uint = segment.HeaderSize - headerSize
	_ uint = streamEntry - (22 + 42)
	_ uint = columnEntry - (34 + 14)
)

// A segmentWalk goes through the bytes of one sealed file.
type segmentWalk struct {
	src    *source
	name   string         // of the file, without its directory
	schema *schema.Schema // of the stream; nil where only the file is known
	quiet  bool           // only what is wrong is wanted: a right footer is one range

	header segment.Header // valid if headerOK
	headOK bool
	count  uint64          // records, counted from the size where the header says 0
	footer *segment.Footer // valid if not nil
	ranges []Range
}

// run walks the whole file. Damage is in the ranges; an error is a failed read.
func (w *segmentWalk) run() error {
	size := w.src.size
	if size < headerSize {
		w.put(Range{Length: size, Meaning: "header", Class: Meta, Check: None})
		w.miss(KindSize, "%d bytes are no header", size)
		return nil
	}
	head := make([]byte, headerSize)
	if err := w.src.read(head, 0); err != nil {
		return err
	}
	w.readHeader(head)
	if !w.headOK {
		w.put(Range{Length: size - headerSize, Meaning: "body", Class: Data, Check: None})
		return nil
	}
	if w.header.Layout() == segment.Rows {
		return w.rows()
	}
	return w.columns()
}

// put appends a range behind the last one.
func (w *segmentWalk) put(r Range) {
	if r.Length == 0 && r.Check != Bad {
		return
	}
	r.Offset = w.end()
	if r.Check == Bad && r.from == r.to && w.headOK {
		r.from, r.to = w.header.First, w.header.First+w.count
	}
	w.ranges = append(w.ranges, r)
}

func (w *segmentWalk) end() int64 {
	if n := len(w.ranges); n > 0 {
		return w.ranges[n-1].Offset + w.ranges[n-1].Length
	}
	return 0
}

// miss says that bytes are missing where the file ends.
func (w *segmentWalk) miss(kind, format string, args ...any) {
	w.put(Range{Meaning: "end of file", Class: Meta, Check: Bad, kind: kind, Detail: fmt.Sprintf(format, args...)})
}

// fail marks the range with that meaning as bad, the last one of them.
func (w *segmentWalk) fail(meaning, kind, format string, args ...any) {
	for i, r := range slices.Backward(w.ranges) {
		if r.Meaning != meaning {
			continue
		}
		r.Check, r.kind, r.Detail = Bad, kind, fmt.Sprintf(format, args...)
		if r.from == r.to && w.headOK {
			r.from, r.to = w.header.First, w.header.First+w.count
		}
		w.ranges[i] = r
		return
	}
}

func (w *segmentWalk) readHeader(b []byte) {
	h, err := segment.DecodeHeader(b)
	w.header, w.headOK, w.count = h, err == nil, h.Count
	legacy := w.headOK && h.Legacy
	if legacy && h.Count == 0 {
		w.count = uint64(w.src.size-headerSize) / uint64(h.Width)
	}
	for _, f := range headerFields {
		r := Range{Length: f.len, Meaning: f.name, Class: Meta, Check: None, Value: headerValue(f, b)}
		if w.headOK {
			r.Check = OK
		}
		// The original engine's header has no CRC: nothing proves when it was
		// sealed, nor, where it counts no records, their times.
		unread := f.name == "min_ts" || f.name == "max_ts"
		if legacy && (f.name == "sealed_at" || unread && h.Count == 0) {
			r.Class, r.Check = Free, None
		}
		w.put(r)
	}
	if err != nil {
		w.headerError(err)
		return
	}
	if first, ok := segment.ParseName(w.name); ok && first != h.First {
		w.fail("first_seq", KindName, "the name says %d", first)
	}
}

// headerError marks the header's field that an error is about.
func (w *segmentWalk) headerError(err error) {
	e, _ := errors.AsType[*disk.CorruptError](err)
	switch {
	case errors.Is(err, disk.ErrVersion) && e == nil:
		w.fail("version", KindVersion, "%v", err)
	case e != nil:
		for _, f := range headerFields {
			if f.off == e.Offset {
				w.fail(f.name, KindHeader, "%s", e.Detail)
			}
		}
	default:
		w.fail("header_crc", KindHeader, "%v", err)
	}
}

func headerValue(f fieldAt, b []byte) string {
	b = b[f.off : f.off+f.len]
	switch f.name {
	case "magic":
		return strconv.Quote(string(b))
	case "min_ts", "max_ts", "sealed_at":
		return strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	case "crc", "flags", "tag", "header_crc":
		return fmt.Sprintf("%08x", binary.LittleEndian.Uint32(b))
	}
	return strconv.FormatUint(unsigned(b), 10)
}

// unsigned reads 1, 2, 4 or 8 little-endian bytes.
func unsigned(b []byte) uint64 {
	var v uint64
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// tail describes what stands behind the place where the file should end.
func (w *segmentWalk) tail() {
	if rest := w.src.size - w.end(); rest > 0 {
		w.put(Range{Length: rest, Meaning: "behind the end", Class: Meta, Check: Bad, kind: KindSize,
			Detail: fmt.Sprintf("%d bytes too many", rest)})
	}
}

// rows walks the body of a row file.
func (w *segmentWalk) rows() error {
	h, width := w.header, int64(w.header.Width)
	if most := uint64(w.src.size-headerSize) / uint64(width); w.count > most {
		w.put(Range{Length: w.src.size - headerSize, Meaning: "records", Class: Data, Check: None})
		w.miss(KindSize, "%d records need %d bytes a record: there are %d", w.count, width, most)
		return nil
	}
	// Records are read whole: as many as fit into a piece.
	a := rowAudit{width: int(width), next: h.First, time: newExtent(schema.I64), schema: w.schema, legacy: h.Legacy}
	if w.schema != nil && w.schema.Width() != int(width) {
		a.schema = nil
	}
	if err := w.src.each(headerSize, int64(w.count)*width, a.add); err != nil {
		return err
	}
	r := Range{Length: int64(w.count) * width, Meaning: "records", Class: Data, Check: OK,
		Value: fmt.Sprintf("%d of %d bytes", w.count, width)}
	proven := !h.Legacy || h.CRC != 0
	if !proven {
		r.Check = None
	}
	w.put(r)
	switch {
	case proven && a.sum != h.CRC:
		w.fail("records", KindRecords, "crc is %08x, the header says %08x", a.sum, h.CRC)
	case a.bad != "":
		w.fail("records", KindRecords, "%s", a.bad)
	case w.count > 0 && h.Count > 0:
		w.agree(a.time)
	}
	if h.Legacy && h.Count == 0 {
		w.put(Range{Length: w.src.size - w.end(), Meaning: "part of a record", Class: Free, Check: None})
	}
	w.tail()
	return nil
}

// agree compares the header's times and flags with the records'.
func (w *segmentWalk) agree(t extent) {
	h := w.header
	if lo := t.value(t.lo); lo != h.MinTime {
		w.fail("min_ts", KindHeader, "the smallest is %d", lo)
	}
	if hi := t.value(t.hi); hi != h.MaxTime {
		w.fail("max_ts", KindHeader, "the largest is %d", hi)
	}
	if !h.Legacy && t.sorted != h.Sorted() {
		w.fail("flags", KindHeader, "ts sorted is %v", t.sorted)
	}
}

// A rowAudit looks at records in row form, piece by piece.
type rowAudit struct {
	width  int
	next   uint64 // number of the next record
	sum    uint32
	time   extent
	schema *schema.Schema // nil: padding isn't known
	legacy bool
	rest   []byte // the beginning of a record whose end is in the next piece
	bad    string // what is wrong with the first record that is not right
}

func (a *rowAudit) add(b []byte) {
	a.sum = crc32.Update(a.sum, crc32.IEEETable, b)
	if len(a.rest) > 0 {
		n := min(a.width-len(a.rest), len(b))
		a.rest = append(a.rest, b[:n]...)
		b = b[n:]
		if len(a.rest) < a.width {
			return
		}
		a.record(a.rest)
		a.rest = a.rest[:0]
	}
	for ; len(b) >= a.width; b = b[a.width:] {
		a.record(b[:a.width])
	}
	a.rest = append(a.rest, b...)
}

func (a *rowAudit) record(rec []byte) {
	if seq := schema.Seq(rec); seq != a.next && a.bad == "" {
		a.bad = fmt.Sprintf("record %d has number %d", a.next, seq)
	}
	if a.schema != nil && a.schema.Padded() && !a.legacy && a.bad == "" {
		clean := slices.Clone(rec)
		if a.schema.ClearPadding(clean); string(clean) != string(rec) {
			a.bad = fmt.Sprintf("padding of record %d is not zero", a.next)
		}
	}
	a.time.add(rec[8:16])
	a.next++
}
