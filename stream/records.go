package stream

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"example.com/ledger/schema"
)

// fitting has for each struct that was found to be a record the schema of it,
// the last one if there are several: a loop over batches asks again and again.
var fitting sync.Map // reflect.Type → *schema.Schema

// fits is the error of Bind.
func fits[T any](s *schema.Schema) error {
	t := reflect.TypeFor[T]()
	if known, ok := fitting.Load(t); ok {
		if k := known.(*schema.Schema); k == s || k.Equal(s) {
			return nil
		}
	}
	if err := bindable(t, s); err != nil {
		return fmt.Errorf("%w: %w", ErrOption, err)
	}
	fitting.Store(t, s)
	return nil
}

// Records appends the records of a batch to dst as values of the Go struct T,
// whose memory is the record, as Bind wants it. It is for readers, whose batches
// come from a snapshot, a tail or a consumer; the values are the caller's own and
// outlive the batch. It may be called from any number of goroutines. Errors:
// ErrOption if T's memory isn't the record, ErrCorrupt; dst comes back as it was.
func Records[T any](dst []T, b Batch) ([]T, error) {
	if b.Len() == 0 {
		return dst, nil
	}
	if err := fits[T](b.g.Schema()); err != nil {
		return dst, err
	}
	n := len(dst)
	all := slices.Grow(dst, b.Len())[:n+b.Len()]
	if _, err := b.Rows(bytesOf(all[n:])[:0]); err != nil {
		return dst, err
	}
	return all, nil
}
