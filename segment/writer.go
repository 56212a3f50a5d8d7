package segment

import (
	"fmt"

	"example.com/ledger/internal/disk"
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
		Flags: flags &^ FlagSorted, SealedAt: sealedAt, Tag: s.Tag(m.ID),
	}
	w.grow(int(geo.Size))
	var sorted bool
	if layout == Rows {
		sorted, err = w.rows(s, rows, h.First)
	} else {
		sorted, err = w.transpose(m, geo, aligned(rows), h.First)
	}
	if err != nil {
		return nil, Header{}, err
	}
	if sorted {
		h.Flags |= FlagSorted
	}
	h.MinTime, h.MaxTime = w.columns[0].Min, w.columns[0].Max
	h.CRC = crc32.ChecksumIEEE(w.image[HeaderSize:])
	if layout == Columns {
		h.CRC = crc32.ChecksumIEEE(w.image[geo.Footer:])
	}
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

func (w *Writer) grow(size int) {
	if cap(w.image) < size {
		w.image = alignedBytes(size)
	}
	w.image = w.image[:size]
}

func notDense(first uint64) error {
	return fmt.Errorf("%w: the numbers from %d on are not dense", ErrRecords, first)
}

// rows fills the image of a row file but for the header.
func (w *Writer) rows(s *schema.Schema, rows []byte, first uint64) (sorted bool, err error) {
	width := s.Width()
	n := len(rows) / width
	if !dense(rows, width, n, first) {
		return false, notDense(first)
	}
	body := w.image[HeaderSize:]
	copy(body, rows)
	s.ClearPadding(body)
	t := span{schema.Time(rows), schema.Time(rows)}
	sorted = true
	last := t.min
	for i := range n {
		ts := schema.Time(rows[i*width:])
		sorted = sorted && last <= ts
		t.widen(ts, ts, false)
		last = ts
	}
	w.columns[0].Min, w.columns[0].Max = t.min, t.max
	return sorted, nil
}

// transpose fills the image of a column file but for the header.
func (w *Writer) transpose(m Meta, geo Geometry, rows []byte, first uint64) (sorted bool, err error) {
	s := m.Schema
	width, n := s.Width(), int(geo.Count)
	var spans [columnsMax]span
	columns := 1 + s.NumFields()
	for c := range columns {
		spans[c] = empty(columnField(s, c).Kind)
	}
	for at := 0; at < n; at += blockRows {
		rows := rows[at*width:]
		k := min(blockRows, n-at)
		if !dense(rows, width, k, first+uint64(at)) {
			return false, notDense(first + uint64(at))
		}
		for c := range columns {
			kind := columnField(s, c).Kind
			pull(w.image[int(geo.Column[c])+at*kind.Size():], rows[recordOffset(s, c):], width, k, kind, &spans[c])
		}
	}
	end := HeaderSize
	for c := range columns {
		from := int(geo.Column[c])
		clear(w.image[end:from])
		end = from + n*columnField(s, c).Kind.Size()
		w.columns[c] = ColumnInfo{spans[c].min, spans[c].max, crc32.ChecksumIEEE(w.image[from:end])}
	}
	clear(w.image[end:geo.Footer])
	w.footer = Footer{Meta: m, Columns: w.columns[:columns]}
	w.footer.Append(w.image[:geo.Footer])
	return ascending(w.image[geo.Column[0]:], n), nil
}

// ascending tells whether n times never decrease.
func ascending(b []byte, n int) bool {
	c := column[int64](b, 8, n)
	for i := 1; i < n; i++ {
		if c.At(i) < c.At(i-1) {
			return false
		}
	}
	return true
}

// Write makes the file path of image, emptying one that is there, and with sync
// makes its bytes durable; its name is not durable before a SyncDir. After an
// error the file is removed, as far as that can be done, so that another try
// doesn't write to the file whose sync failed.
func (w *Writer) Write(fsys disk.FS, path string, image []byte, sync bool) error {
	f, err := fsys.Create(path)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(image, 0)
	if err == nil && sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = fsys.Remove(path) // the first error counts
	}
	return err
}
