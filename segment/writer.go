package segment

import (
	"fmt"

	"example.com/ledger/schema"
	"github.com/klauspost/crc32"
)

// A Writer makes sealed files. The zero value is ready. It keeps its buffers, so
// that only the first and the largest Encode allocate. One goroutine at a time
// may use it.
type Writer struct {
	image   []byte
	columns [columnsMax]ColumnInfo
	footer  Footer
	tagged  Meta // what tag was computed of
	tag     uint32
}

// Encode makes the bytes of a file of rows, whole records in row form with dense
// sequence numbers. sealedAt is in milliseconds since 1970-01-01 UTC. Of flags
// only FlagDurable is the caller's: FlagSorted, as the smallest and largest
// values, is found out. Padding comes out as zeros; rows is not changed. What
// is not a run of at least one record is ErrRecords.
//
// The image is valid until the next Encode.
func (w *Writer) Encode(m Meta, layout Layout, rows []byte, sealedAt int64, flags uint32) (image []byte, h Header, err error) {
	s := m.Schema
	n, err := checkRows(s, rows)
	if err != nil {
		return nil, h, err
	}
	if flags&^flagsKnown != 0 || layout > Rows {
		return nil, h, fmt.Errorf("segment: no file has %v and flags %#x", layout, flags)
	}
	geo, ok := Locate(s, layout, uint64(n))
	if !ok || geo.Size != int64(int(geo.Size)) {
		return nil, h, fmt.Errorf("segment: %d records are too many for a file", n)
	}
	h = Header{
		Version: layout.version(), Width: uint16(s.Width()),
		First: schema.Seq(rows), Count: uint64(n),
		Flags: flags &^ FlagSorted, SealedAt: sealedAt, Tag: w.tagOf(m),
	}
	w.grow(int(geo.Size))
	seen := heads{next: h.First, last: -1 << 63}
	if layout == Rows {
		w.rows(s, aligned(rows), &seen)
		h.CRC = crc32.ChecksumIEEE(w.image[HeaderSize:])
	} else {
		w.transpose(m, geo, aligned(rows), &seen)
		h.CRC = crc32.ChecksumIEEE(w.image[geo.Footer:])
	}
	if seen.wrong != 0 {
		return nil, Header{}, fmt.Errorf("%w: the numbers from %d on are not dense", ErrRecords, h.First)
	}
	if !seen.falls {
		h.Flags |= FlagSorted
	}
	h.MinTime, h.MaxTime = w.columns[0].Min, w.columns[0].Max
	h.Append(w.image[:0])
	return w.image, h, nil
}

// checkRows returns the number of records.
func checkRows(s *schema.Schema, rows []byte) (int, error) {
	width := s.Width()
	if len(rows) == 0 || len(rows)%width != 0 {
		return 0, fmt.Errorf("%w: %d bytes, want a multiple of %d", ErrRecords, len(rows), width)
	}
	n := len(rows) / width
	if first := schema.Seq(rows); first+uint64(n) < first {
		return 0, fmt.Errorf("%w: %d records from %d pass the end of the numbers", ErrRecords, n, first)
	}
	return n, nil
}

// tagOf returns the tag of a stream's files. A Writer mostly serves one stream.
func (w *Writer) tagOf(m Meta) uint32 {
	if w.tagged.Schema != m.Schema || w.tagged.ID != m.ID {
		w.tagged, w.tag = m, m.Schema.Tag(m.ID)
	}
	return w.tag
}

func (w *Writer) grow(size int) {
	if cap(w.image) < size {
		w.image = alignedBytes(size)
	}
	w.image = w.image[:size]
}

// rows fills the image of a row file but for the header.
func (w *Writer) rows(s *schema.Schema, rows []byte, h *heads) {
	body := w.image[HeaderSize:]
	const block = blockRows * schema.WidthMax // fits the second-level cache
	for len(rows) > 0 {
		n := min(len(rows), block-block%s.Width())
		h.add(rows, s.Width(), n/s.Width())
		copy(body, rows[:n])
		s.ClearPadding(body[:n])
		rows, body = rows[n:], body[n:]
	}
	body = w.image[HeaderSize:]
	t := span{schema.Time(body), h.last}
	if h.falls {
		t = spanOf(body[8:], s.Width(), len(body)/s.Width(), schema.I64)
	}
	w.columns[0].Min, w.columns[0].Max = t.min, t.max
}

// transpose fills the image of a column file but for the header.
func (w *Writer) transpose(m Meta, geo Geometry, rows []byte, h *heads) {
	s := m.Schema
	width, n := s.Width(), int(geo.Count)
	var cols [columnsMax]move
	for c := range 1 + s.NumFields() {
		kind := columnField(s, c).Kind
		cols[c] = move{recordOffset(s, c), int(geo.Column[c]), kind, kind.Size(), empty(kind)}
	}
	moves := cols[:1+s.NumFields()]
	for at := 0; at < n; at += blockRows {
		k := min(blockRows, n-at)
		block := rows[at*width : (at+k)*width]
		h.add(block, width, k)
		for c := range moves {
			m := &moves[c]
			to := w.image[m.to+at*m.size:]
			pull(to, block[m.from:], width, k, m.size)
			m.span.look(to, k, m.kind)
		}
	}
	end := HeaderSize
	for c := range moves {
		m := &moves[c]
		clear(w.image[end:m.to])
		end = m.to + n*m.size
		w.columns[c] = ColumnInfo{m.span.min, m.span.max, crc32.ChecksumIEEE(w.image[m.to:end])}
	}
	clear(w.image[end:geo.Footer])
	w.footer = Footer{Meta: m, Columns: w.columns[:len(moves)]}
	w.footer.Append(w.image[:geo.Footer])
}

// A move is a column on its way from rows to its place in the image.
type move struct {
	from int // of the value in a record
	to   int // of the column in the image
	kind schema.Kind
	size int // of a value
	span span
}
