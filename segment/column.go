package segment

import (
	"errors"
	"fmt"
	"unsafe"

	"example.com/ledger/schema"
)

// A Column is one field of the records of a Segment. It is a small value, valid
// as long as its Segment, and any number of goroutines may read it.
type Column[T Int] struct {
	base   unsafe.Pointer // of value 0
	stride int            // from a value to the next, bytes
	n      int
}

// column makes a column of n values in b.
func column[T Int](b []byte, stride, n int) Column[T] {
	if n == 0 {
		return Column[T]{}
	}
	var v T
	_ = b[(n-1)*stride+int(unsafe.Sizeof(v))-1] // all that At touches
	return Column[T]{unsafe.Pointer(&b[0]), stride, n}
}

// Len returns the number of values.
func (c Column[T]) Len() int { return c.n }

var errIndex = errors.New("segment: column index out of range")

// At returns value i, 0 ≤ i < Len. It panics outside. Where the column lies in
// a mapped file that others cut short, it faults: package query's loops, and the
// copying reads, turn that into an error; a loop of the caller's can't.
func (c Column[T]) At(i int) T {
	if uint(i) >= uint(c.n) {
		panic(errIndex)
	}
	v := *(*T)(unsafe.Add(c.base, i*c.stride))
	if bigEndian {
		v = swap(v)
	}
	return v
}

// Slice returns the values without copying them. It is false where they don't
// stand close together (rows in memory, row files), and on machines that are not
// little-endian. The slice lives as long as the Segment, must not be written to,
// and faults as At does.
func (c Column[T]) Slice() ([]T, bool) {
	var v T
	if c.n == 0 {
		return nil, true
	}
	size := unsafe.Sizeof(v)
	if bigEndian && size > 1 || uintptr(c.stride) != size || uintptr(c.base)%unsafe.Alignof(v) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(c.base), c.n), true
}

// KindOf returns the kind of column that is read as a T.
func KindOf[T Int]() schema.Kind {
	var v T
	k := schema.U8
	switch unsafe.Sizeof(v) {
	case 2:
		k = schema.U16
	case 4:
		k = schema.U32
	case 8:
		k = schema.U64
	}
	if ^v < 0 { // T is signed
		k--
	}
	return k
}

// ColumnOf returns the column of a field, or of "ts" as int64. There is none of
// "seq": numbers are dense, record i has First() + i. T's kind must be the
// field's, else it is ErrKind; an unknown name is ErrField. The first use of a
// file's column checks its CRC, in time proportional to the file.
func ColumnOf[T Int](g Segment, field string) (Column[T], error) {
	i, err := g.index(field)
	if err != nil {
		return Column[T]{}, err
	}
	return ColumnAt[T](g, i)
}

// ColumnAt is ColumnOf by the field's number, or TimeField. It panics if there
// is no such field.
func ColumnAt[T Int](g Segment, field int) (Column[T], error) {
	if want := kindOf(g.s, field); KindOf[T]() != want {
		var v T
		return Column[T]{}, fmt.Errorf("%w: %s is %v, not %T", ErrKind, columnField(g.s, field+1).Name, want, v)
	}
	base, stride, _, err := g.Raw(field)
	if err != nil {
		return Column[T]{}, err
	}
	return column[T](base, stride, g.n), nil
}
