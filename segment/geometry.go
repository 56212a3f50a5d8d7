package segment

import "example.com/ledger/schema"

// A Geometry says where the parts of a file lie. It follows from the schema, the
// layout and the number of records.
type Geometry struct {
	Layout Layout
	Count  uint64 // records
	Width  int    // of a record in row form, bytes
	// Column has the offset of each column in the file: ts, then the fields. Of
	// a row file it has the offset of the value in the first record.
	Column [1 + schema.MaxFields]int64
	Footer int64 // its offset in the file; of a row file, the end of the records
	Size   int64 // of the file, bytes
}

// Locate returns the geometry of a file of count records. It is false if the
// file would be larger than an int64 can say.
func Locate(s *schema.Schema, l Layout, count uint64) (Geometry, bool) {
	g := Geometry{Layout: l, Count: count, Width: s.Width()}
	const sizeMax = 1<<63 - 1
	if count > (sizeMax-HeaderSize-columnsMax*(alignment+columnEntry)-2*streamEntry)/uint64(storedWidth(s, l)) {
		return g, false
	}
	if l == Rows {
		for c := range 1 + s.NumFields() {
			g.Column[c] = HeaderSize + int64(recordOffset(s, c))
		}
		g.Footer = HeaderSize + int64(count)*int64(s.Width())
		g.Size = g.Footer
		return g, true
	}
	end := int64(HeaderSize)
	for i := range 1 + s.NumFields() {
		g.Column[i] = alignUp(end)
		end = g.Column[i] + int64(count)*int64(columnField(s, i).Kind.Size())
	}
	g.Footer = alignUp(end)
	g.Size = g.Footer + footerSize(1+s.NumFields())
	return g, true
}

// Size returns the size of a file of count records in bytes, or -1 if an int64
// can't say it.
func Size(s *schema.Schema, l Layout, count uint64) int64 {
	g, ok := Locate(s, l, count)
	if !ok {
		return -1
	}
	return g.Size
}

// storedWidth returns how many bytes of a file a record takes.
func storedWidth(s *schema.Schema, l Layout) int {
	if l == Rows {
		return s.Width()
	}
	w := 8
	for i := range s.NumFields() {
		w += s.Field(i).Kind.Size()
	}
	return w
}

func alignUp(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// kindOf returns the kind of a column of fields: TimeField or a field's number.
func kindOf(s *schema.Schema, field int) schema.Kind {
	if field == TimeField {
		return schema.I64
	}
	return s.Field(field).Kind
}

// recordOffset returns where column c lies in a record in row form.
func recordOffset(s *schema.Schema, c int) int {
	if c == 0 {
		return 8
	}
	return s.Offset(c - 1)
}
