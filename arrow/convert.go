package arrow

import (
	"unsafe"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A Converter makes record batches of records that the caller has already: of a
// tail's batches, or of the positions that a filter selected. It copies them. It
// never changes, and any number of goroutines may use it.
type Converter struct {
	s       *schema.Schema
	columns []column
	schema  *apache.Schema
	mem     memory.Allocator
}

// NewConverter returns a Converter of records of schema s. Of the options Columns,
// Raw, Texts and Allocator count. A column that isn't there, or is named twice, is
// segment.ErrField.
func NewConverter(s *schema.Schema, o Options) (*Converter, error) {
	columns, err := columnsOf(s, o.Columns, o.Raw)
	if err != nil {
		return nil, err
	}
	if !o.Raw {
		withTexts(columns, o.Texts)
	}
	c := &Converter{s: s, columns: columns, schema: schemaOf(s, columns), mem: o.Allocator}
	if c.mem == nil {
		c.mem = memory.DefaultAllocator
	}
	return c, nil
}

// Schema returns the schema of the batches.
func (c *Converter) Schema() *apache.Schema { return c.schema }

// Copy makes a batch of the records of g, which must have the converter's schema,
// at the positions in at, each below g.Len; of all of them if at is nil. Release
// the batch. Only the columns asked for are read, and checked when they are first
// touched: damage is a *segment.CorruptError, an unreadable file stream.ErrFault.
func (c *Converter) Copy(g segment.Segment, at []uint32) (apache.RecordBatch, error) {
	return c.batch(g, at, nil)
}

// batch makes a batch. Columns that can be shown as they are are, where p is not
// nil, and each holds p.
func (c *Converter) batch(g segment.Segment, at []uint32, p *pin) (apache.RecordBatch, error) {
	n := g.Len()
	if at != nil {
		n = len(at)
	}
	arrays := make([]apache.Array, 0, len(c.columns))
	defer func() {
		for _, a := range arrays {
			a.Release() // the batch has its own
		}
	}()
	err := disk.Guard(func() error {
		for _, col := range c.columns {
			if col.texts != nil {
				a, err := c.strings(col, g, at, n)
				if err != nil {
					return err
				}
				arrays = append(arrays, a)
				continue
			}
			b, err := c.buffer(col, g, at, n, p)
			if err != nil {
				return err
			}
			d := array.NewData(col.typ, n, []*memory.Buffer{nil, b}, nil, 0, 0)
			arrays = append(arrays, array.MakeFromData(d))
			d.Release()
			b.Release()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return array.NewRecordBatch(c.schema, arrays, int64(n)), nil
}

// buffer returns the values of a column.
func (c *Converter) buffer(col column, g segment.Segment, at []uint32, n int, p *pin) (*memory.Buffer, error) {
	if col.number == columnSeq {
		b, seqs := values[uint64](c.mem, n)
		for i := range seqs {
			seqs[i] = g.First() + uint64(i)
		}
		for i, k := range at {
			seqs[i] = g.First() + uint64(k)
		}
		return b, nil
	}
	switch col.field.Kind {
	case schema.I8:
		return fill[int8](c.mem, col, g, at, n, p)
	case schema.U8:
		return fill[uint8](c.mem, col, g, at, n, p)
	case schema.I16:
		return fill[int16](c.mem, col, g, at, n, p)
	case schema.U16:
		return fill[uint16](c.mem, col, g, at, n, p)
	case schema.I32:
		return fill[int32](c.mem, col, g, at, n, p)
	case schema.U32:
		return fill[uint32](c.mem, col, g, at, n, p)
	case schema.I64:
		return fill[int64](c.mem, col, g, at, n, p)
	}
	return fill[uint64](c.mem, col, g, at, n, p)
}

// fill returns the values of a column of Ts.
func fill[T segment.Int](mem memory.Allocator, col column, g segment.Segment, at []uint32, n int, p *pin) (*memory.Buffer, error) {
	from, err := segment.ColumnAt[T](g, col.number)
	if err != nil {
		return nil, err
	}
	if col.decimal() {
		b, to := values[decimal128.Num](mem, n)
		guarded(b, func() { gather(to, from, at, wide[T]) })
		return b, nil
	}
	if s, ok := from.Slice(); ok && p != nil && at == nil && n > 0 {
		return p.buffer(bytesOf(s)), nil
	}
	b, to := values[T](mem, n)
	guarded(b, func() { gather(to, from, at, func(v T) T { return v }) })
	return b, nil
}

// guarded gives b back if f panics, as it does where a file can't be read.
func guarded(b *memory.Buffer, f func()) {
	done := false
	defer func() {
		if !done {
			b.Release()
		}
	}()
	f()
	done = true
}

// gather converts the values at the positions in at, or all of them.
func gather[T segment.Int, V any](to []V, from segment.Column[T], at []uint32, convert func(T) V) {
	if at == nil {
		for i := range to {
			to[i] = convert(from.At(i))
		}
		return
	}
	for i, k := range at {
		to[i] = convert(from.At(int(k)))
	}
}

// wide makes an integer the unscaled value of a decimal.
func wide[T segment.Int](v T) decimal128.Num {
	if v < 0 {
		return decimal128.FromI64(int64(v))
	}
	return decimal128.FromU64(uint64(v))
}

// values makes a buffer of n values, and shows it as such.
func values[V any](mem memory.Allocator, n int) (*memory.Buffer, []V) {
	var v V
	b := memory.NewResizableBuffer(mem)
	b.Resize(n * int(unsafe.Sizeof(v)))
	if n == 0 {
		return b, nil
	}
	return b, unsafe.Slice((*V)(unsafe.Pointer(&b.Bytes()[0])), n)
}

// bytesOf shows values as the bytes that they are.
func bytesOf[T segment.Int](s []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(v)))
}
