// Package schema says what a record is: its fields, where each of them lies,
// and how one is read and written.
//
// A record is a sequence number (u64 at byte 0), a time (i64 at byte 8) and up
// to 16 integer fields, little-endian, each at the next offset that is a
// multiple of its own width, in the order declared, as a Go or C struct lays
// them out. Zeros pad the record to a multiple of 8 bytes. A field with a scale
// holds a decimal: 6412350 with scale 2 is 64123.50.
//
// A Schema never changes once it is made, and any number of goroutines may use
// it at once. Nothing here opens a file.
package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxFields is how many fields a record has at most, seq and ts not counted.
	MaxFields = 16
	// WidthMax is the size of the widest record, bytes.
	WidthMax = headSize + 8*MaxFields
	// ScaleMax is the largest number of decimals of a field.
	ScaleMax = 18
	// NameMax is the longest name of a field, bytes.
	NameMax = 12

	headSize = 16 // seq and ts
)

// A Field is one integer of a record.
type Field struct {
	Name  string // 1 to 12 bytes of [a-z0-9_], not seq or ts
	Kind  Kind
	Scale uint8 // decimals of the value as people read it, 0 to 18
}

// String returns the field as ParseField reads it: "px:i32:2", or "qty:i32"
// with scale 0.
func (f Field) String() string {
	s := f.Name + ":" + f.Kind.String()
	if f.Scale > 0 {
		s += fmt.Sprintf(":%d", f.Scale)
	}
	return s
}

// A Schema is the shape of every record of a stream. New makes one; the zero
// Schema is of no use.
type Schema struct {
	unit   Unit
	width  int
	slots  []slot // of each field, where it lies
	fields []Field
	gaps   []gap // the padding
}

// A slot is what it takes to read and write a field. Fields are aligned and the
// width is a multiple of 8, so each field lies inside one 8-byte word of the
// record: it is read as that word, moved left until the field is on top, then
// right until it is at the bottom.
type slot struct {
	offset uint16 // of the field in the record
	word   uint16 // of its word: offset rounded down to 8
	left   uint8  // bits
	right  uint8  // bits
	sign   uint64 // the sign bit of a signed kind, at the bottom; 0 if unsigned
	min    int64  // of the kind
	max    uint64
}

// A gap is padding of 1, 2 or 4 bytes that one store clears. Longer padding is
// several gaps.
type gap struct{ offset, size int }

// New makes a schema of 0 to 16 fields; unit 0 means Nanosecond. If rules are
// broken, the error names all of them, and is ErrSchema.
func New(unit Unit, fields ...Field) (*Schema, error) {
	if unit == 0 {
		unit = Nanosecond
	}
	if err := check(unit, fields); err != nil {
		return nil, err
	}
	s := &Schema{unit: unit, fields: slices.Clone(fields), slots: make([]slot, len(fields))}
	offset := headSize
	for i, f := range fields {
		s.pad(&offset, f.Kind.Size())
		s.slots[i] = newSlot(f.Kind, offset)
		offset += f.Kind.Size()
	}
	s.pad(&offset, 8)
	s.width = offset
	return s, nil
}

// pad moves offset to the next multiple of align, and notes what lies between.
func (s *Schema) pad(offset *int, align int) {
	for *offset%align != 0 {
		size := *offset & -*offset // the largest aligned store here; it doesn't pass the multiple
		s.gaps = append(s.gaps, gap{*offset, size})
		*offset += size
	}
}

func newSlot(k Kind, offset int) slot {
	bits := 8 * k.Size()
	sl := slot{
		offset: uint16(offset),
		word:   uint16(offset &^ 7),
		left:   uint8(64 - bits - 8*(offset&7)),
		right:  uint8(64 - bits),
		min:    k.min(),
		max:    k.max(),
	}
	if k.Signed() {
		sl.sign = 1 << (bits - 1)
	}
	return sl
}

// check returns every broken rule, joined.
func check(unit Unit, fields []Field) error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrSchema}, args...)...))
	}
	if !unit.valid() {
		bad("%v is no unit", unit)
	}
	if len(fields) > MaxFields {
		bad("%d fields, at most %d", len(fields), MaxFields)
	}
	firsts := make(map[string]int, len(fields))
	for i, f := range fields {
		if what := checkName(f.Name); what != "" {
			bad("field %d %q: %s", i, shorten(f.Name), what)
		} else if first, ok := firsts[f.Name]; ok {
			bad("field %d %q: the name of field %d", i, f.Name, first)
		} else {
			firsts[f.Name] = i
		}
		if !f.Kind.valid() {
			bad("field %d %q: %v is no kind", i, shorten(f.Name), f.Kind)
		}
		if f.Scale > ScaleMax {
			bad("field %d %q: scale %d, at most %d", i, shorten(f.Name), f.Scale, ScaleMax)
		}
	}
	return errors.Join(errs...)
}

// checkName says what is wrong with a field's name, "" if nothing is.
func checkName(name string) string {
	switch {
	case name == "":
		return "no name"
	case len(name) > NameMax:
		return fmt.Sprintf("a name has at most %d bytes", NameMax)
	case name == "seq" || name == "ts":
		return "every record has one already"
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
		return "a name is made of a-z, 0-9 and _"
	}
	return ""
}

// Unit returns what ts counts.
func (s *Schema) Unit() Unit { return s.unit }

// Width returns the size of a record in bytes: a multiple of 8, 16 to WidthMax.
func (s *Schema) Width() int { return s.width }

// NumFields returns the number of fields, seq and ts not counted.
func (s *Schema) NumFields() int { return len(s.fields) }

// Field returns field i, 0 ≤ i < NumFields. It panics outside.
func (s *Schema) Field(i int) Field { return s.fields[i] }

// Fields returns a copy of all fields, in order.
func (s *Schema) Fields() []Field { return slices.Clone(s.fields) }

// Offset returns where field i begins in a record, bytes. It panics outside
// 0 ≤ i < NumFields.
func (s *Schema) Offset(i int) int { return int(s.slots[i].offset) }

// Index returns the number of the field of that name, and whether there is one.
// seq and ts are not fields.
func (s *Schema) Index(name string) (int, bool) {
	for i := range s.fields {
		if s.fields[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// Equal tells whether both have the same unit and the same fields, in the same
// order. No schema equals nil but nil.
func (s *Schema) Equal(o *Schema) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.unit == o.unit && slices.Equal(s.fields, o.fields)
}

// WithUnit returns the same fields with times in another unit.
func (s *Schema) WithUnit(unit Unit) (*Schema, error) { return New(unit, s.fields...) }

// WithScale returns the same schema with another scale of one field. An unknown
// name and a scale above 18 are ErrSchema.
func (s *Schema) WithScale(field string, scale uint8) (*Schema, error) {
	i, ok := s.Index(field)
	if !ok {
		return nil, fmt.Errorf("%w: no field %q", ErrSchema, shorten(field))
	}
	fields := s.Fields()
	fields[i].Scale = scale
	return New(s.unit, fields...)
}
