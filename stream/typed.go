package stream

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"example.com/ledger/schema"
)

// A Typed appends and reads records as values of the Go struct T, whose memory
// is the record. It may be used from any number of goroutines.
type Typed[T any] struct {
	s *Stream
}

// Bind checks once that T's memory is the stream's record: a struct whose
// fields are an unsigned 64-bit sequence number, a signed 64-bit time, then the
// schema's fields in order, each of its kind and at its offset. Names may
// differ. Fields named _ are padding, and must be written out where the record
// has some at its end. The error is ErrOption, naming every difference. Readers
// have no stream to bind to: see Records.
func Bind[T any](s *Stream) (Typed[T], error) {
	if err := fits[T](s.schema); err != nil {
		return Typed[T]{}, err
	}
	return Typed[T]{s}, nil
}

var kindOf = map[reflect.Kind]schema.Kind{
	reflect.Int8: schema.I8, reflect.Uint8: schema.U8, reflect.Int16: schema.I16, reflect.Uint16: schema.U16,
	reflect.Int32: schema.I32, reflect.Uint32: schema.U32, reflect.Int64: schema.I64, reflect.Uint64: schema.U64,
}

// bindable reports all differences between a struct's memory and a record.
func bindable(t reflect.Type, s *schema.Schema) error {
	if t.Kind() != reflect.Struct {
		return fmt.Errorf("%v is no struct", t)
	}
	type want struct {
		name   string
		kind   schema.Kind
		offset int
	}
	wants := []want{{"seq", schema.U64, 0}, {"ts", schema.I64, 8}}
	for i := range s.NumFields() {
		wants = append(wants, want{s.Field(i).Name, s.Field(i).Kind, s.Offset(i)})
	}
	var errs []error
	if t.Size() != uintptr(s.Width()) {
		errs = append(errs, fmt.Errorf("%v has %d bytes, a record %d: write padding out as a field _", t, t.Size(), s.Width()))
	}
	k := 0
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		if k == len(wants) {
			errs = append(errs, fmt.Errorf("%v.%s has no field in the schema", t, f.Name))
			continue
		}
		w := wants[k]
		k++
		if kindOf[f.Type.Kind()] != w.kind || int(f.Offset) != w.offset {
			errs = append(errs, fmt.Errorf("%v.%s is %v at %d, but %s is %v at %d", t, f.Name, f.Type, f.Offset, w.name, w.kind, w.offset))
		}
	}
	for _, w := range wants[k:] {
		errs = append(errs, fmt.Errorf("%v has no field for %s", t, w.name))
	}
	return errors.Join(errs...)
}

// bytesOf is the memory of records.
func bytesOf[T any](recs []T) []byte {
	if len(recs) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(recs))), len(recs)*int(unsafe.Sizeof(zero)))
}

// Append is Stream.Append of records that are Go values: nothing is copied on
// the way in. The first field of each is set to its number.
func (t Typed[T]) Append(recs []T) (first Seq, n int, err error) { return t.s.Append(bytesOf(recs)) }

// AppendAt is Stream.AppendAt.
func (t Typed[T]) AppendAt(want Seq, recs []T) (first Seq, n int, err error) {
	return t.s.AppendAt(want, bytesOf(recs))
}

// AppendAsync is Stream.AppendAsync.
func (t Typed[T]) AppendAsync(recs []T) (first Seq, n int, err error) {
	return t.s.AppendAsync(bytesOf(recs))
}

// AppendOnce is Stream.AppendOnce.
func (t Typed[T]) AppendOnce(id ProducerID, number uint64, recs []T) (first Seq, n int, err error) {
	return t.s.AppendOnce(id, number, bytesOf(recs))
}

// Read copies the records from number from on into dst and returns how many:
// fewer than len(dst) only at the end of the snapshot, or with an error. Records
// that are gone are ErrDropped, with what was read before them.
func (t Typed[T]) Read(dst []T, n *Snapshot, from Seq) (int, error) {
	if !n.s.Equal(t.s.schema) {
		return 0, fmt.Errorf("%w: the snapshot is of another schema", ErrOption)
	}
	buf := bytesOf(dst)
	done := 0
	for b, err := range n.Range(from, from+Seq(len(dst))) {
		if err != nil {
			return done, err
		}
		rows, err := b.Rows(buf[:done*n.s.Width()])
		if err != nil {
			return done, err
		}
		done = len(rows) / n.s.Width()
	}
	return done, nil
}
