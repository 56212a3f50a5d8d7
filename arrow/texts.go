package arrow

import (
	"fmt"
	"math"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// withTexts makes strings of the columns whose numbers stand for texts.
func withTexts(columns []column, texts map[string][]string) {
	for i, c := range columns {
		if list := texts[c.field.Name]; len(list) > 0 && c.number >= 0 && c.field.Scale == 0 {
			columns[i].typ, columns[i].texts = apache.BinaryTypes.String, list
		}
	}
}

// strings returns the texts of a column's numbers.
func (c *Converter) strings(col column, g segment.Segment, at []uint32, n int) (apache.Array, error) {
	switch col.field.Kind {
	case schema.I8:
		return texts[int8](c.mem, col, g, at, n)
	case schema.U8:
		return texts[uint8](c.mem, col, g, at, n)
	case schema.I16:
		return texts[int16](c.mem, col, g, at, n)
	case schema.U16:
		return texts[uint16](c.mem, col, g, at, n)
	case schema.I32:
		return texts[int32](c.mem, col, g, at, n)
	case schema.U32:
		return texts[uint32](c.mem, col, g, at, n)
	case schema.I64:
		return texts[int64](c.mem, col, g, at, n)
	}
	return texts[uint64](c.mem, col, g, at, n)
}

// texts returns the texts of a column of Ts. A number that has none is its digits.
func texts[T segment.Int](mem memory.Allocator, col column, g segment.Segment, at []uint32, n int) (apache.Array, error) {
	from, err := segment.ColumnAt[T](g, col.number)
	if err != nil {
		return nil, err
	}
	b := array.NewStringBuilder(mem)
	defer b.Release() // also where a file can't be read
	b.Reserve(n)
	var digits []byte
	size := 0
	for i := range n {
		k := i
		if at != nil {
			k = int(at[i])
		}
		v := from.At(k)
		if v > 0 && uint64(v) <= uint64(len(col.texts)) {
			text := col.texts[v-1]
			size += len(text)
			b.Append(text)
		} else {
			digits = col.field.AppendValue(digits[:0], int64(v))
			size += len(digits)
			b.Append(string(digits))
		}
		if size > math.MaxInt32 {
			return nil, fmt.Errorf("arrow: the texts of %s in one batch have more than 2 GiB: choose fewer BatchRecords", col.field.Name)
		}
	}
	return b.NewArray(), nil
}
