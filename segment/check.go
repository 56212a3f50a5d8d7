package segment

import (
	"fmt"
	"slices"

	"example.com/ledger/internal/disk"
	"github.com/klauspost/crc32"
)

// Bits of File.checked. Each is set once what it stands for was found right.
const checkedFooter = 1 << 0

func checkedColumn(c int) uint32 { return 2 << c }

// In a row file there is one check, of all records. It counts as column 0.

// allChecked is what checked says when every record may be read.
func (v *view) allChecked() uint32 {
	if v.geo.Layout == Rows {
		return checkedColumn(0)
	}
	return checkedColumn(v.n) - 1
}

// checkAll checks everything that was not checked before.
func (f *File) checkAll(v *view) error {
	all := v.allChecked()
	if f.checked.Load()&all == all {
		return nil
	}
	for c := range v.n {
		if err := f.checkColumn(v, c-1); err != nil {
			return err
		}
	}
	return nil
}

// checkColumn checks a field, or TimeField, unless that was done before. Two
// goroutines may do it at the same time, to the same end.
func (f *File) checkColumn(v *view, field int) error {
	c := field + 1
	if v.geo.Layout == Rows {
		c = 0
	}
	if f.checked.Load()&checkedColumn(c) != 0 {
		return nil
	}
	var err error
	if v.geo.Layout == Rows {
		err = disk.Guard(func() error { return v.checkRecords() })
	} else {
		var foot *Footer
		if foot, err = f.loadFooter(v); err == nil {
			err = disk.Guard(func() error { return v.checkValues(c, foot.Columns[c].CRC) })
		}
	}
	if err != nil {
		return in(f.path, f.h.First, f.h.End(), err)
	}
	f.checked.Or(checkedColumn(c))
	return nil
}

// checkRecords compares the records of a row file with their CRC. A legacy file
// that was not finished has none: its CRC is 0.
func (v *view) checkRecords() error {
	h := &v.f.h
	if h.Legacy && h.CRC == 0 {
		return nil
	}
	if sum := crc32.ChecksumIEEE(v.data[HeaderSize:v.geo.Footer]); sum != h.CRC {
		return corrupt(HeaderSize, "records", "crc %08x, want %08x", sum, h.CRC)
	}
	return nil
}

// checkValues compares the bytes of column c with their CRC.
func (v *view) checkValues(c int, want uint32) error {
	if sum := crc32.ChecksumIEEE(v.values(c)); sum != want {
		return corrupt(v.geo.Column[c], v.columnName(c), "crc %08x, want %08x", sum, want)
	}
	return nil
}

// values returns the bytes of column c of a column file.
func (v *view) values(c int) []byte {
	p := v.cols[c]
	return v.data[p.off : p.off+int(v.geo.Count)*p.size]
}

func (v *view) columnName(c int) string {
	return fmt.Sprintf("column %s", columnField(v.f.s, c).Name)
}

// loadFooter returns the footer, checked, from the mapping if there is one.
func (f *File) loadFooter(v *view) (*Footer, error) {
	if foot := f.footer.Load(); foot != nil {
		return foot, nil
	}
	b, err := f.footerBytes(v)
	if err != nil {
		return nil, err
	}
	foot, err := f.decodeFooter(b)
	if err != nil {
		return nil, err
	}
	f.setFooter(foot)
	return foot, nil
}

func (f *File) setFooter(foot *Footer) {
	f.footer.Store(foot)
	f.checked.Or(checkedFooter)
}

// footerBytes copies the footer out of the mapping, or reads it from the file.
func (f *File) footerBytes(v *view) (b []byte, err error) {
	size := footerSize(1 + f.s.NumFields())
	if v != nil {
		err = disk.Guard(func() error {
			b = slices.Clone(v.data[f.size-size:])
			return nil
		})
		return b, err
	}
	d, err := f.fsys.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	b = make([]byte, size)
	return b, readFull(d, b, f.size-size)
}

// decodeFooter checks the bytes of a footer against the header.
func (f *File) decodeFooter(b []byte) (*Footer, error) {
	off := f.size - int64(len(b))
	if sum := crc32.ChecksumIEEE(b); sum != f.h.CRC {
		return nil, corrupt(off, "footer", "crc %08x, want %08x", sum, f.h.CRC)
	}
	foot, err := DecodeFooter(b)
	if err != nil {
		if e, ok := err.(*CorruptError); ok {
			e.Offset += off
		}
		return nil, err
	}
	return foot, f.checkFooter(foot)
}

// checkFooter tells whether the footer says the same as the header.
func (f *File) checkFooter(foot *Footer) error {
	off := f.size - footerSize(len(foot.Columns))
	ts := foot.Columns[0]
	switch tag := foot.Meta.Schema.Tag(foot.Meta.ID); {
	case !foot.Meta.Schema.Equal(f.s):
		return corrupt(off+offColumns, "columns", "%v, want %v", foot.Meta.Schema, f.s)
	case tag != f.h.Tag:
		return corrupt(off+offID, "id", "tag %08x, but the header says %08x", tag, f.h.Tag)
	case ts.Min != f.h.MinTime:
		return corrupt(off+streamEntry+offMin, "min", "ts from %d, but the header says %d", ts.Min, f.h.MinTime)
	case ts.Max != f.h.MaxTime:
		return corrupt(off+streamEntry+offMax, "max", "ts to %d, but the header says %d", ts.Max, f.h.MaxTime)
	}
	return nil
}

// findFooter reads the footer of a file whose schema isn't known: it ends the
// file, at most 17 columns long, and the header has its CRC.
func (f *File) findFooter() (*Footer, error) {
	d, err := f.fsys.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	tail := make([]byte, min(f.size-HeaderSize, footerSize(columnsMax)))
	if err := readFull(d, tail, f.size-int64(len(tail))); err != nil {
		return nil, err
	}
	for n := 1; n <= columnsMax && footerSize(n) <= int64(len(tail)); n++ {
		b := tail[int64(len(tail))-footerSize(n):]
		if (f.size-footerSize(n))%alignment == 0 && crc32.ChecksumIEEE(b) == f.h.CRC && int(b[offColumns]) == n {
			foot, err := DecodeFooter(b)
			if e, ok := err.(*CorruptError); ok {
				e.Offset += f.size - footerSize(n)
			}
			return foot, err
		}
	}
	return nil, corrupt(f.size, "footer", "none that has crc %08x", f.h.CRC)
}

// Bounds returns the smallest and largest value of a field, or TimeField, of all
// records: for a U64 their bit patterns, to be compared unsigned. It is false if
// there are none, as for the fields of a row file, or if they can't be read: then
// reading the column will say why. The first call reads the footer and checks
// its CRC; it doesn't map the file.
func (f *File) Bounds(field int) (min, max int64, ok bool) {
	if f.h.Layout() == Rows {
		return f.h.MinTime, f.h.MaxTime, field == TimeField && !f.h.Legacy
	}
	foot := f.footer.Load()
	if foot == nil {
		var err error
		if f.hold() {
			foot, err = f.loadFooter(f.view)
			f.Release()
		} else {
			foot, err = f.loadFooter(nil)
		}
		if err != nil {
			return 0, 0, false
		}
	}
	c := foot.Columns[field+1]
	return c.Min, c.Max, true
}
