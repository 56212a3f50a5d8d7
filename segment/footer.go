package segment

import (
	"encoding/binary"
	"strings"

	"example.com/ledger/schema"
)

// Footer of a column file. It begins at the next multiple of 64 after the last
// column and ends the file; its CRC is in the header. First the stream entry:
//
//	offset size field    constraint
//	     0   16 id       of the stream
//	    16    4 capacity of the stream's segments, records
//	    20    1 unit     of ts: 1 ns, 2 µs, 3 ms
//	    21    1 columns  ts and the fields: 1 to 17
//	    22   42 zero     a reader refuses anything else
//
// then one entry a column, ts first, then the fields as declared:
//
//	offset size field constraint
//	     0    8 min   the smallest value: signed, for u64 unsigned
//	     8    8 max   the largest value
//	    16   12 name  zero-padded
//	    28    4 crc   of the column's bytes, its padding not included
//	    32    1 kind  1 i8, 2 u8, 3 i16, 4 u16, 5 i32, 6 u32, 7 i64, 8 u64
//	    33    1 scale 0 to 18
//	    34   14 zero  a reader refuses anything else
const (
	offID       = 0
	offCapacity = 16
	offUnit     = 20
	offColumns  = 21
	offZero     = 22

	offMin      = 0
	offMax      = 8
	offName     = 16
	offColCRC   = 28
	offKind     = 32
	offScale    = 33
	offColZero  = 34
	columnsMax  = 1 + schema.MaxFields
	streamEntry = 64
	columnEntry = 48
)

// The tables above, checked by the compiler.
const (
	_ uint = streamEntry - offZero
	_ uint = columnEntry - offColZero
	_ uint = offColCRC - (offName + schema.NameMax)
	_ uint = (offName + schema.NameMax) - offColCRC
	_ uint = -(streamEntry % alignment)
)

// Meta is the stream entry of a footer: what a column file says about its stream.
type Meta struct {
	ID       [16]byte
	Capacity uint32 // records a segment
	Schema   *schema.Schema
}

// A ColumnInfo is one column's entry in a footer.
type ColumnInfo struct {
	Min, Max int64 // the smallest and largest value; bit patterns for U64, ordered unsigned
	CRC      uint32
}

// A Footer is what follows the columns of a column file.
type Footer struct {
	Meta    Meta
	Columns []ColumnInfo // ts, then the fields of Meta.Schema
}

// footerSize returns the size of a footer of n columns, bytes.
func footerSize(n int) int64 { return streamEntry + int64(n)*columnEntry }

// Append appends the bytes of the footer.
func (f *Footer) Append(b []byte) []byte {
	le := binary.LittleEndian
	s := f.Meta.Schema
	b = append(b, f.Meta.ID[:]...)
	b = le.AppendUint32(b, f.Meta.Capacity)
	b = append(b, byte(s.Unit()), byte(len(f.Columns)))
	b = append(b, zeros[:streamEntry-offZero]...)
	for i, c := range f.Columns {
		field := columnField(s, i)
		b = le.AppendUint64(b, uint64(c.Min))
		b = le.AppendUint64(b, uint64(c.Max))
		b = append(b, field.Name...)
		b = append(b, zeros[:schema.NameMax-len(field.Name)]...)
		b = le.AppendUint32(b, c.CRC)
		b = append(b, byte(field.Kind), field.Scale)
		b = append(b, zeros[:columnEntry-offColZero]...)
	}
	return b
}

var zeros [alignment]byte

// columnField returns the field that column i holds: 0 is ts.
func columnField(s *schema.Schema, i int) schema.Field {
	if i == 0 {
		return schema.Field{Name: "ts", Kind: schema.I64}
	}
	return s.Field(i - 1)
}

// DecodeFooter reads a footer, which is all of b, and reads no file. It checks
// everything but the CRC, which is in the header. An error is a *CorruptError
// whose offset counts from the footer's begin.
func DecodeFooter(b []byte) (*Footer, error) {
	if len(b) < streamEntry {
		return nil, short(int64(len(b)), streamEntry)
	}
	n := int(b[offColumns])
	switch {
	case n < 1 || n > columnsMax:
		return nil, corrupt(offColumns, "columns", "%d, want 1 to %d", n, columnsMax)
	case int64(len(b)) != footerSize(n):
		return nil, corrupt(offColumns, "columns", "%d in a footer of %d bytes", n, len(b))
	case !allZero(b[offZero:streamEntry]):
		return nil, corrupt(offZero, "zero", "not zero")
	case b[offUnit] == 0:
		return nil, corrupt(offUnit, "unit", "0")
	}
	f := &Footer{Columns: make([]ColumnInfo, n)}
	fields := make([]schema.Field, n)
	for i := range n {
		off := streamEntry + i*columnEntry
		var err *CorruptError
		if fields[i], f.Columns[i], err = decodeColumn(b[off : off+columnEntry]); err != nil {
			err.Offset += int64(off)
			return nil, err
		}
	}
	if fields[0] != columnField(nil, 0) {
		return nil, corrupt(streamEntry, "column ts", "is %v", fields[0])
	}
	s, err := schema.New(schema.Unit(b[offUnit]), fields[1:]...)
	if err != nil {
		e := corrupt(streamEntry, "columns", "no schema")
		e.Err = err
		return nil, e
	}
	f.Meta = Meta{Capacity: binary.LittleEndian.Uint32(b[offCapacity:]), Schema: s}
	copy(f.Meta.ID[:], b)
	return f, nil
}

func decodeColumn(b []byte) (schema.Field, ColumnInfo, *CorruptError) {
	le := binary.LittleEndian
	name, rest, _ := strings.Cut(string(b[offName:offColCRC]), "\x00")
	field := schema.Field{Name: name, Kind: schema.Kind(b[offKind]), Scale: b[offScale]}
	c := ColumnInfo{
		Min: int64(le.Uint64(b[offMin:])),
		Max: int64(le.Uint64(b[offMax:])),
		CRC: le.Uint32(b[offColCRC:]),
	}
	switch {
	case strings.Trim(rest, "\x00") != "":
		return field, c, corrupt(offName, "name", "%q", b[offName:offColCRC])
	case !allZero(b[offColZero:]):
		return field, c, corrupt(offColZero, "zero", "not zero")
	case field.Kind == schema.U64 && uint64(c.Min) > uint64(c.Max),
		field.Kind != schema.U64 && c.Min > c.Max:
		return field, c, corrupt(offMin, "min", "above max")
	}
	return field, c, nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
