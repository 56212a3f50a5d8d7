package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
)

// AppendCanonical appends the bytes that tell schemas apart: the unit (u8), the
// number of fields (u8), then for each field its name, padded with zeros to 12
// bytes, its kind (u8) and its scale (u8).
func (s *Schema) AppendCanonical(b []byte) []byte {
	b = append(b, byte(s.unit), byte(len(s.fields)))
	for _, f := range s.fields {
		var name [NameMax]byte
		copy(name[:], f.Name)
		b = append(b, name[:]...)
		b = append(b, byte(f.Kind), f.Scale)
	}
	return b
}

// Tag returns the CRC-32/IEEE of a stream's id and the canonical schema. Each
// file of a stream carries it, so that another stream's file can't pass.
func (s *Schema) Tag(id [16]byte) uint32 {
	return crc32.ChecksumIEEE(s.AppendCanonical(id[:]))
}

// String returns the schema on one line: "ns px:i32:2 qty:i32".
func (s *Schema) String() string {
	var b strings.Builder
	b.WriteString(s.unit.String())
	for _, f := range s.fields {
		b.WriteString(" " + f.String())
	}
	return b.String()
}

// ParseField reads a field as String writes it: name:kind or name:kind:scale,
// such as "px:i32:2". Anything else is ErrSchema.
func ParseField(s string) (Field, error) {
	name, rest, _ := strings.Cut(s, ":")
	kind, scale, scaled := strings.Cut(rest, ":")
	f := Field{Name: name}
	var errs []error
	if what := checkName(name); what != "" {
		errs = append(errs, fmt.Errorf("%w: field %q: %s", ErrSchema, shorten(s), what))
	}
	k, err := ParseKind(kind)
	if err != nil {
		errs = append(errs, err)
	}
	f.Kind = k
	if scaled {
		n, err := strconv.ParseUint(scale, 10, 8)
		if err != nil || n > ScaleMax || scale != strconv.FormatUint(n, 10) {
			errs = append(errs, fmt.Errorf("%w: field %q: scale %q is no number from 0 to %d",
				ErrSchema, shorten(s), shorten(scale), ScaleMax))
		}
		f.Scale = uint8(n)
	}
	if len(errs) > 0 {
		return Field{}, errors.Join(errs...)
	}
	return f, nil
}

type fieldJSON struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Scale uint8  `json:"scale,omitempty"`
}

type schemaJSON struct {
	Unit   string      `json:"unit"`
	Fields []fieldJSON `json:"fields"`
}

// MarshalJSON returns {"unit":"ns","fields":[{"name":"px","kind":"i32","scale":2},…]};
// a scale of 0 is left out.
func (s *Schema) MarshalJSON() ([]byte, error) {
	j := schemaJSON{Unit: s.unit.String(), Fields: make([]fieldJSON, len(s.fields))}
	for i, f := range s.fields {
		j.Fields[i] = fieldJSON{f.Name, f.Kind.String(), f.Scale}
	}
	return json.Marshal(j)
}

// UnmarshalJSON sets s to what MarshalJSON wrote. Members that it doesn't know,
// null, and all that New refuses are errors, the latter ErrSchema; s is then
// left as it was. Nobody else may use s meanwhile.
func (s *Schema) UnmarshalJSON(b []byte) error {
	var j *schemaJSON
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: more than one JSON value", ErrSchema)
	}
	if j == nil || j.Fields == nil {
		return fmt.Errorf("%w: no fields in JSON", ErrSchema)
	}
	unit, err := ParseUnit(j.Unit)
	errs := []error{err}
	fields := make([]Field, len(j.Fields))
	for i, f := range j.Fields {
		kind, err := ParseKind(f.Kind)
		errs = append(errs, err)
		fields[i] = Field{f.Name, kind, f.Scale}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	n, err := New(unit, fields...)
	if err != nil {
		return err
	}
	*s = *n
	return nil
}
