package query

import (
	"encoding/binary"
	"sync"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// A Filter is a condition bound to a schema, for callers that have the records
// already: a loop over batches, a tail. Any number of goroutines may use one.
type Filter struct {
	s *schema.Schema
	t *tree
	b sync.Pool // of *block
}

// NewFilter binds a condition to a schema. The error is ErrInvalid.
func NewFilter(s *schema.Schema, p Pred) (*Filter, error) {
	t, err := bindPred(s, p)
	if err != nil {
		return nil, err
	}
	return &Filter{s: s, t: t}, nil
}

// All reports whether the condition holds for every record there can be.
func (f *Filter) All() bool { return f.t == always }

// May reports whether the condition can hold for a record of p, as far as its
// numbers, its times and its columns' smallest and largest values tell: where it
// is false no record of p has to be looked at. It reads no values, and of a
// column file at most the footer. p must have the filter's schema.
func (f *Filter) May(p stream.Part) bool {
	if p.Len() == 0 {
		return false
	}
	h, sealed := p.Header()
	pt := &part{p, h, sealed}
	left := f.t.under(func(id int) (span, bool) { // what costs nothing comes first
		if id >= 0 {
			return span{}, false
		}
		return pt.bounds(id, columnAt(f.s, id).kind)
	})
	if left == always || left == never {
		return left == always
	}
	return left.under(func(id int) (span, bool) { return pt.bounds(id, columnAt(f.s, id).kind) }) != never
}

// Match reports whether the condition holds for a record in row form.
func (f *Filter) Match(rec []byte) bool { return f.match(f.t, rec) }

func (f *Filter) match(t *tree, rec []byte) bool {
	switch t.op {
	case opAnd:
		for _, k := range t.kids {
			if !f.match(k, rec) {
				return false
			}
		}
		return true
	case opOr:
		for _, k := range t.kids {
			if f.match(k, rec) {
				return true
			}
		}
		return false
	}
	var bits uint64
	switch t.col {
	case colSeq:
		bits = binary.LittleEndian.Uint64(rec)
	case colTime:
		bits = binary.LittleEndian.Uint64(rec[8:])
	default:
		if t.kind.Signed() {
			bits = uint64(f.s.Int(rec, t.col))
		} else {
			bits = f.s.Uint(rec, t.col)
		}
	}
	return t.set.has(order(bits, t.kind.Signed()))
}

// Select appends the positions in g of the records for which the condition holds
// to dst, in order. g must have the filter's schema. Only the columns that the
// condition needs are read and checked; what can't be read is an error, and so
// is a fault on a mapped file.
func (f *Filter) Select(dst []uint32, g segment.Segment) ([]uint32, error) {
	if f.t == never {
		return dst, nil
	}
	b, _ := f.b.Get().(*block)
	if b == nil {
		b = newBlock(f.s)
	}
	defer func() {
		b.close()
		f.b.Put(b)
	}()
	err := disk.Guard(func() error {
		if err := b.open(g, f.t.columns(nil)); err != nil {
			return err
		}
		for lo := 0; lo < g.Len(); lo += b.size {
			b.load(lo, min(lo+b.size, g.Len()))
			n := len(dst)
			dst = b.selected(dst, f.t)
			for i := range dst[n:] {
				dst[n+i] += uint32(lo)
			}
		}
		return nil
	})
	return dst, err
}
