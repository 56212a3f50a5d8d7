package segment

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
)

// A File is one sealed file: what its header says, kept in memory, and its bytes,
// mapped when they are first wanted. Any number of goroutines may use it.
//
// Acquire and Release count users. The mapping is made by the first Acquire and
// stays after the last Release, for the next, until Evict is called or the
// process has too many (LimitMaps). A File needs no closing but for Evict; one
// that is mapped is kept alive by the list of mappings. It holds no file
// descriptor, so a file that was unlinked can only be used if it was mapped
// before: a stream unlinks a file when no snapshot holds it.
type File struct {
	fsys disk.FS
	path string
	s    *schema.Schema
	h    Header
	raw  [HeaderSize]byte // as read by Open; a file mapped later must have the same
	size int64
	torn int64

	checked atomic.Uint32 // bits: checkedFooter, checkedColumn(c)
	footer  atomic.Pointer[Footer]

	refs atomic.Int32 // users, and 1 for the mapping's own wish to stay
	used atomic.Bool  // since the list of mappings last looked
	mu   sync.Mutex   // guards making and ending the mapping
	view *view        // nil: not mapped; changed under mu while refs is 0
	kept bool         // the mapping's own reference is counted in refs
	slot int          // in the list of mappings
}

// Open opens a file of a stream whose schema and tag are known. It reads 64
// bytes, and checks them, the file's size and its name. A header that says
// something else than s and tag is a *CorruptError, as is a legacy file: none
// belongs in a stream. Errors of the system come back as they are.
func Open(fsys disk.FS, path string, s *schema.Schema, tag uint32) (*File, error) {
	f, err := open(fsys, path)
	if err != nil {
		return nil, err
	}
	f.s = s
	switch {
	case f.h.Legacy:
		err = corrupt(offHeaderCRC, "header_crc", "none")
	case f.h.Tag != tag:
		err = corrupt(offTag, "tag", "%08x, want %08x: of another stream, or of another schema", f.h.Tag, tag)
	default:
		err = f.checkSize()
	}
	if err != nil {
		return nil, in(path, 0, 0, err)
	}
	return f, nil
}

// OpenSelf opens a column file by what it says about itself: it reads and checks
// the header and the footer. A row file is ErrRows.
func OpenSelf(fsys disk.FS, path string) (*File, Meta, error) {
	f, err := open(fsys, path)
	if err != nil {
		return nil, Meta{}, err
	}
	if f.h.Layout() == Rows {
		return nil, Meta{}, in(path, 0, 0, ErrRows)
	}
	foot, err := f.findFooter()
	if err != nil {
		return nil, Meta{}, in(path, 0, 0, err)
	}
	f.s = foot.Meta.Schema
	if err := f.checkSize(); err != nil {
		return nil, Meta{}, in(path, 0, 0, err)
	}
	if err := f.checkFooter(foot); err != nil {
		return nil, Meta{}, in(path, 0, 0, err)
	}
	f.setFooter(foot)
	return f, foot.Meta, nil
}

// OpenLegacy opens a row file of the original engine, which doesn't say what its
// fields are. If its header's count is 0 its writer died: its records are
// counted from the file's size (a part of one at the end is left out: Torn), and
// are read once, for the smallest and the largest ts. A row file with a tag is
// refused, as ErrRows.
func OpenLegacy(fsys disk.FS, path string, s *schema.Schema) (*File, error) {
	f, err := open(fsys, path)
	if err != nil {
		return nil, err
	}
	f.s = s
	if !f.h.Legacy {
		return nil, in(path, 0, 0, fmt.Errorf("not a legacy file: %w", ErrRows))
	}
	if f.h.Count == 0 {
		body := f.size - HeaderSize
		f.h.Count = uint64(body) / uint64(f.h.Width)
		f.torn = body % int64(f.h.Width)
	}
	if err := f.checkSize(); err != nil {
		return nil, in(path, 0, 0, err)
	}
	if f.countedFromSize() {
		if err := f.readTimes(); err != nil {
			return nil, in(path, 0, 0, err)
		}
	}
	return f, nil
}

// open reads and checks what needs no schema: the header and the name.
func open(fsys disk.FS, path string) (*File, error) {
	f := &File{fsys: fsys, path: path}
	d, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if f.size, err = d.Size(); err != nil {
		return nil, err
	}
	if f.size < HeaderSize {
		return nil, in(path, 0, 0, short(f.size, HeaderSize))
	}
	if err := readFull(d, f.raw[:], 0); err != nil {
		return nil, in(path, 0, 0, err)
	}
	if f.h, err = DecodeHeader(f.raw[:]); err != nil {
		return nil, in(path, 0, 0, err)
	}
	first, ok := ParseName(filepath.Base(path))
	if ok && first != f.h.First {
		return nil, in(path, 0, 0, corrupt(offFirst, "first_seq", "%d, but the name says %d", f.h.First, first))
	}
	return f, nil
}

// readFull fills b from offset off. A file that has become shorter is ErrShort.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return short(off+int64(n), off+int64(len(b)))
	}
	return err
}

// checkSize tells whether the file has the width of the schema and the size that
// follows from its count. The count is bounded by the size before anything is
// multiplied by it.
func (f *File) checkSize() error {
	if int(f.h.Width) != f.s.Width() {
		return corrupt(offWidth, "width", "%d, but the schema's records have %d", f.h.Width, f.s.Width())
	}
	stored := uint64(storedWidth(f.s, f.h.Layout()))
	if most := uint64(f.size-HeaderSize) / stored; f.h.Count > most {
		e := corrupt(offCount, "count", "%d, but a file of %d bytes has at most %d", f.h.Count, f.size, most)
		e.Err = ErrShort
		return e
	}
	switch want := Size(f.s, f.h.Layout(), f.h.Count) + f.torn; {
	case f.size < want:
		return short(f.size, want)
	case f.size > want:
		return corrupt(want, "size", "%d bytes, want %d", f.size, want)
	case f.h.First+f.h.Count < f.h.First:
		return corrupt(offFirst, "first_seq", "%d records from %d pass the end of the numbers", f.h.Count, f.h.First)
	}
	return nil
}

// countedFromSize tells whether the header says nothing about the records.
func (f *File) countedFromSize() bool {
	return f.h.Legacy && allZero(f.raw[offCount:offCount+8])
}

// Counted tells whether the records were counted from the file's size: its
// header says 0, because the process that wrote it died.
func (f *File) Counted() bool { return f.countedFromSize() }

// readTimes finds the smallest and largest ts of the records.
func (f *File) readTimes() error {
	f.h.MinTime, f.h.MaxTime = 0, 0
	if f.h.Count == 0 {
		return nil
	}
	d, err := f.fsys.Open(f.path)
	if err != nil {
		return err
	}
	defer d.Close()
	width := uint64(f.s.Width())
	const most = 1024 // records a read
	buf := make([]byte, min(f.h.Count, most)*width)
	t := empty(schema.I64)
	for at := uint64(0); at < f.h.Count; at += most {
		b := buf[:min(f.h.Count-at, most)*width]
		if err := readFull(d, b, HeaderSize+int64(at*width)); err != nil {
			return err
		}
		for ; len(b) > 0; b = b[width:] {
			t.widen(schema.Time(b), schema.Time(b), false)
		}
	}
	f.h.MinTime, f.h.MaxTime = t.min, t.max
	return nil
}

// Header returns what the file's first 64 bytes say; of a legacy file whose
// header counts no records, what its records do.
func (f *File) Header() Header { return f.h }

// Path returns the path the file was opened by.
func (f *File) Path() string { return f.path }

// Size returns the file's size in bytes, as it was when it was opened.
func (f *File) Size() int64 { return f.size }

// Layout returns how the records stand.
func (f *File) Layout() Layout { return f.h.Layout() }

// Schema returns what the records are.
func (f *File) Schema() *schema.Schema { return f.s }

// Torn returns the size of the part of a record at the end of a legacy file
// whose writer died, bytes. It belongs to no record. Of all other files it is 0.
func (f *File) Torn() int64 { return f.torn }
