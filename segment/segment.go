// Package segment writes and reads the sealed files of a stream, and shows rows
// in memory the same way: as strided columns.
//
// A file is written once, whole, and never changed (Writer). It is opened from
// its first 64 bytes, mapped at first use (File.Acquire), and seen as a Segment:
// a run of records, of which ColumnOf gives one field and Rows copies. Nothing
// that was read unchecked leaves the package: a column's CRC is checked when the
// column is first touched, and that of the footer, which has it, before.
//
// Bytes of a mapped file live until its File is released. Columns, slices and
// Segments used later read other bytes or fault.
package segment

import (
	"fmt"

	"example.com/ledger/schema"
)

// TimeField is ts where a field's number is asked for.
const TimeField = -1

// A Segment is a run of records with dense numbers, in a sealed file or in
// memory. It is a small value; any number of goroutines may use it, as long as
// its File is held or its rows are kept.
type Segment struct {
	s     *schema.Schema
	v     *view  // nil: rows in memory
	rows  []byte // of a row file or in memory, from record 0 of the file
	first uint64 // number of the first record of the run
	lo, n int    // the run, in records of the file
}

// FromRows returns rows in memory, whole records in row form, as a Segment. The
// first record's number is first. The rows must not change while it is used. It
// panics if the length is not a multiple of the width.
func FromRows(s *schema.Schema, first uint64, rows []byte) Segment {
	if len(rows)%s.Width() != 0 {
		panic(fmt.Sprintf("segment: %d bytes are no whole records of %d", len(rows), s.Width()))
	}
	return Segment{s: s, rows: aligned(rows), first: first, n: len(rows) / s.Width()}
}

// First returns the sequence number of the first record.
func (g Segment) First() uint64 { return g.first }

// Len returns the number of records.
func (g Segment) Len() int { return g.n }

// Schema returns what the records are.
func (g Segment) Schema() *schema.Schema { return g.s }

// Slice returns records [lo, hi), 0 ≤ lo ≤ hi ≤ Len. It panics outside.
func (g Segment) Slice(lo, hi int) Segment {
	if lo < 0 || hi < lo || hi > g.n {
		panic(fmt.Sprintf("segment: records [%d, %d) of %d", lo, hi, g.n))
	}
	g.first += uint64(lo)
	g.lo += lo
	g.n = hi - lo
	return g
}

// Check checks a field, or TimeField, against its CRC unless that was done
// before; in a row file, all fields. An error is a *CorruptError, or ErrFault
// where the file can't be read. Rows in memory are always right.
func (g Segment) Check(field int) error {
	if g.v == nil {
		return nil
	}
	return g.v.f.checkColumn(g.v, field)
}

// WillNeed asks the system to read a field, or TimeField, of the run ahead. It
// is a hint: rows in memory, and what can't be read, are passed over.
func (g Segment) WillNeed(field int) {
	if g.v == nil || g.n == 0 {
		return
	}
	if g.v.geo.Layout == Rows {
		g.v.m.WillNeed(HeaderSize+g.lo*g.s.Width(), g.n*g.s.Width())
		return
	}
	p := g.v.cols[field+1]
	g.v.m.WillNeed(p.off+g.lo*p.size, g.n*p.size)
}

// Raw returns a field, or TimeField, as bytes: value i is little-endian at
// base[i*stride:], and base ends with the last value. The column is checked
// first. base must not be written to; it lives, and faults, as At does.
func (g Segment) Raw(field int) (base []byte, stride int, kind schema.Kind, err error) {
	kind = kindOf(g.s, field)
	if err := g.Check(field); err != nil {
		return nil, 0, kind, err
	}
	base, stride = g.bytes(field)
	if g.n == 0 {
		return nil, stride, kind, nil
	}
	return base[:(g.n-1)*stride+kind.Size()], stride, kind, nil
}

// bytes returns a field's values, unchecked, from the run's first on.
func (g Segment) bytes(field int) (base []byte, stride int) {
	if g.v != nil && g.v.geo.Layout == Columns {
		p := g.v.cols[field+1]
		return g.v.data[p.off+g.lo*p.size:], p.size
	}
	stride = g.s.Width()
	if g.n == 0 {
		return nil, stride
	}
	return g.rows[g.lo*stride+recordOffset(g.s, field+1):], stride
}

// index returns the number of the field of that name.
func (g Segment) index(name string) (int, error) {
	if name == "ts" {
		return TimeField, nil
	}
	i, ok := g.s.Index(name)
	if !ok {
		return 0, fmt.Errorf("%w: %q", ErrField, name)
	}
	return i, nil
}
