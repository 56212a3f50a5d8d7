// Package listing writes rows as a table for people, or as CSV, JSON or JSON
// lines for programs: the same columns in all of them.
//
// A Writer and its Row belong to one goroutine.
package listing

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Format is one of the ways to write rows.
type Format uint8

// Auto, the zero value, is none: Choose makes it Table or CSV.
const (
	Auto Format = iota
	Table
	CSV
	JSON
	JSONL
)

var formatNames = []string{Table: "table", CSV: "csv", JSON: "json", JSONL: "jsonl"}

// FormatNames returns what ParseFormat reads.
func FormatNames() []string { return slices.Clone(formatNames[Table:]) }

// ParseFormat reads a format's name.
func ParseFormat(s string) (Format, error) {
	if i := slices.Index(formatNames, s); i > 0 {
		return Format(i), nil
	}
	return Auto, fmt.Errorf("%.40q is none of %s", s, strings.Join(FormatNames(), ", "))
}

// String returns the format's name, "" for Auto.
func (f Format) String() string { return formatNames[f] }

// Choose replaces Auto: by a table where a person looks, by CSV elsewhere.
func (f Format) Choose(terminal bool) Format {
	switch {
	case f != Auto:
		return f
	case terminal:
		return Table
	}
	return CSV
}

// A Kind says how a column's cells are written. An empty cell is null in JSON,
// whatever its kind, Text excepted: see Column.
type Kind uint8

const (
	// Text is any text: a string in JSON.
	Text Kind = iota
	// Number is an integer that a float holds exactly: a number in JSON.
	Number
	// Exact is a number that a float may not hold, such as a 64-bit integer, a
	// sequence number or a decimal: a string in JSON.
	Exact
	// Time is a point in time: a string in JSON.
	Time
	// Bool is true or false.
	Bool
)

// A Column is one column of a listing.
type Column struct {
	Name string
	Kind Kind
	Null bool // of Text: an empty cell is no text, and null in JSON
}

// A Row is the cells of one row, in the order of the columns. Its zero value has
// none; Reset makes it that again and keeps the memory.
type Row struct {
	// Buf ends with the cell being written: append to it, then call End.
	Buf  []byte
	ends []int
}

// Reset drops all cells.
func (r *Row) Reset() { r.Buf, r.ends = r.Buf[:0], r.ends[:0] }

// End ends a cell.
func (r *Row) End() { r.ends = append(r.ends, len(r.Buf)) }

// Len returns the number of cells.
func (r *Row) Len() int { return len(r.ends) }

// Cell returns the text of cell i. It is valid until the next Reset.
func (r *Row) Cell(i int) []byte {
	from := 0
	if i > 0 {
		from = r.ends[i-1]
	}
	return r.Buf[from:r.ends[i]]
}

// Empty adds a cell without a value.
func (r *Row) Empty() { r.End() }

// Text adds a cell.
func (r *Row) Text(s string) {
	r.Buf = append(r.Buf, s...)
	r.End()
}

// Int adds a cell.
func (r *Row) Int(v int64) {
	r.Buf = strconv.AppendInt(r.Buf, v, 10)
	r.End()
}

// Uint adds a cell.
func (r *Row) Uint(v uint64) {
	r.Buf = strconv.AppendUint(r.Buf, v, 10)
	r.End()
}

// Bool adds a cell.
func (r *Row) Bool(v bool) {
	r.Buf = strconv.AppendBool(r.Buf, v)
	r.End()
}

// A Writer writes rows of one set of columns.
type Writer interface {
	// Write writes a row, or keeps it until the table's widths are known. The row
	// may be used again afterwards.
	Write(*Row) error
	// Flush writes what was kept.
	Flush() error
	// Close flushes and ends the listing. It does not close what it writes to.
	Close() error
}

// Options are for tables.
type Options struct {
	Width int  // of the terminal, in cells; 0 if rows may be as long as they like
	Color bool // escape sequences are welcome
}

// New returns a Writer of columns to w in the given format, which isn't Auto.
func New(w io.Writer, f Format, columns []Column, o Options) Writer {
	switch f {
	case CSV:
		return &csvWriter{w: w, columns: columns}
	case JSON:
		return &jsonWriter{w: w, columns: columns, names: quotedNames(columns)}
	case JSONL:
		return &jsonWriter{w: w, columns: columns, names: quotedNames(columns), lines: true}
	}
	return newTable(w, columns, o)
}
