package query

import (
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// Columns are named by their field's number; these two stand for what is not a field.
const (
	colTime = segment.TimeField // -1
	colSeq  = -2
)

// A column is a field of the records, or seq, or ts.
type column struct {
	id    int
	name  string
	kind  schema.Kind
	scale uint8
	unit  schema.Unit // of ts
}

// lookup finds the column of a name.
func lookup(s *schema.Schema, name string, pos int) (column, error) {
	switch name {
	case "seq":
		return column{id: colSeq, name: name, kind: schema.U64}, nil
	case "ts":
		return column{id: colTime, name: name, kind: schema.I64, unit: s.Unit()}, nil
	}
	i, ok := s.Index(name)
	if !ok {
		return column{}, badAt(pos, "there is no field %s; there are %s", quote(name), fieldNames(s))
	}
	return columnAt(s, i), nil
}

// columnAt returns the column of a number.
func columnAt(s *schema.Schema, id int) column {
	switch id {
	case colSeq:
		return column{id: id, name: "seq", kind: schema.U64}
	case colTime:
		return column{id: id, name: "ts", kind: schema.I64, unit: s.Unit()}
	}
	f := s.Field(id)
	return column{id: id, name: f.Name, kind: f.Kind, scale: f.Scale}
}

func fieldNames(s *schema.Schema) string {
	names := "seq, ts"
	for i := range s.NumFields() {
		names += ", " + s.Field(i).Name
	}
	return names
}
