package arrow

import (
	"fmt"
	"slices"
	"strings"

	apache "github.com/apache/arrow-go/v18/arrow"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// MetadataKey is the key of an Arrow schema's metadata whose value is the
// stream's schema, as its String writes it: kinds and scales are found there
// where Raw left them out of the types.
const MetadataKey = "ledger.schema"

// columnSeq is the number of seq among columns; fields count from 0, and ts is
// segment.TimeField.
const columnSeq = -2

// A column is one column of the batches.
type column struct {
	number int // of a field, segment.TimeField or columnSeq
	field  schema.Field
	typ    apache.DataType
	texts  []string // what its numbers stand for; nil: for themselves
}

// decimal tells whether values are made into decimal128.
func (c column) decimal() bool { return c.typ.ID() == apache.DECIMAL128 }

// columnsOf returns the columns of that name, or all of them where none is named.
func columnsOf(s *schema.Schema, names []string, raw bool) ([]column, error) {
	all := []column{
		{columnSeq, schema.Field{Name: "seq", Kind: schema.U64}, apache.PrimitiveTypes.Uint64, nil},
		{segment.TimeField, schema.Field{Name: "ts", Kind: schema.I64}, timestamp(s.Unit(), raw), nil},
	}
	for i, f := range s.Fields() {
		all = append(all, column{i, f, typeOf(f, raw), nil})
	}
	if len(names) == 0 {
		return all, nil
	}
	var chosen []column
	for _, name := range names {
		i := slices.IndexFunc(all, func(c column) bool { return c.field.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: %q in %s", segment.ErrField, name, strings.TrimSpace("seq ts "+s.String()))
		}
		if slices.ContainsFunc(chosen, func(c column) bool { return c.field.Name == name }) {
			return nil, fmt.Errorf("%w: %q is named twice", segment.ErrField, name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// timestamp returns the type of ts. The zone says that the times are points in
// time, not what a clock on a wall shows.
func timestamp(u schema.Unit, raw bool) apache.DataType {
	if raw {
		return apache.PrimitiveTypes.Int64
	}
	t := &apache.TimestampType{Unit: apache.Nanosecond, TimeZone: "UTC"}
	switch u {
	case schema.Microsecond:
		t.Unit = apache.Microsecond
	case schema.Millisecond:
		t.Unit = apache.Millisecond
	}
	return t
}

// integers are the types of fields without a scale.
var integers = [...]apache.DataType{
	schema.I8: apache.PrimitiveTypes.Int8, schema.U8: apache.PrimitiveTypes.Uint8,
	schema.I16: apache.PrimitiveTypes.Int16, schema.U16: apache.PrimitiveTypes.Uint16,
	schema.I32: apache.PrimitiveTypes.Int32, schema.U32: apache.PrimitiveTypes.Uint32,
	schema.I64: apache.PrimitiveTypes.Int64, schema.U64: apache.PrimitiveTypes.Uint64,
}

// digits is how many decimal digits a kind's values have at most. Each must fit:
// decimal32's 9 and decimal64's 18 are one too few for the kinds of that size.
var digits = [...]int32{schema.I8: 3, schema.U8: 3, schema.I16: 5, schema.U16: 5, schema.I32: 10, schema.U32: 10, schema.I64: 19, schema.U64: 20}

func typeOf(f schema.Field, raw bool) apache.DataType {
	if raw || f.Scale == 0 {
		return integers[f.Kind]
	}
	return &apache.Decimal128Type{Precision: max(digits[f.Kind], int32(f.Scale)), Scale: int32(f.Scale)}
}

// schemaOf returns the Arrow schema of columns. Nothing is ever null.
func schemaOf(s *schema.Schema, columns []column) *apache.Schema {
	fields := make([]apache.Field, len(columns))
	for i, c := range columns {
		fields[i] = apache.Field{Name: c.field.Name, Type: c.typ}
	}
	meta := apache.NewMetadata([]string{MetadataKey}, []string{s.String()})
	return apache.NewSchema(fields, &meta)
}
