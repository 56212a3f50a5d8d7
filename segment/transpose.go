package segment

import (
	"unsafe"

	"example.com/ledger/internal/kern"
	"example.com/ledger/schema"
)

// blockRows is how many records are transposed before the next column's turn:
// rows and columns of a block stay in the first-level cache.
const blockRows = 256

// A span is the smallest and largest value of a column, as ColumnInfo has them.
type span struct{ min, max int64 }

// empty returns the span of no value: any value widens it.
func empty(k schema.Kind) span {
	switch {
	case k == schema.U64:
		return span{-1, 0} // as unsigned: the largest, the smallest
	default:
		return span{1<<63 - 1, -1 << 63}
	}
}

// pull copies one field of n records to dst, close together. src begins at the
// first record's value and the next stands stride bytes on.
func pull(dst, src []byte, stride, n, size int) {
	if n == 0 {
		return
	}
	_, _ = dst[n*size-1], src[(n-1)*stride+size-1] // all that is touched below
	d, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	switch size {
	case 1:
		pullAs[uint8](d, p, stride, n)
	case 2:
		pullAs[uint16](d, p, stride, n)
	case 4:
		pullAs[uint32](d, p, stride, n)
	case 8:
		pullAs[uint64](d, p, stride, n)
	}
}

// pullAs is pull for one size, eight records a step. The caller has checked the
// bounds.
func pullAs[T Int](dst, src unsafe.Pointer, stride, n int) {
	var v T
	i := 0
	for ; i+8 <= n; i += 8 {
		p := unsafe.Add(src, i*stride)
		o := (*[8]T)(unsafe.Add(dst, i*int(unsafe.Sizeof(v))))
		o[0] = *(*T)(p)
		o[1] = *(*T)(unsafe.Add(p, stride))
		o[2] = *(*T)(unsafe.Add(p, 2*stride))
		o[3] = *(*T)(unsafe.Add(p, 3*stride))
		o[4] = *(*T)(unsafe.Add(p, 4*stride))
		o[5] = *(*T)(unsafe.Add(p, 5*stride))
		o[6] = *(*T)(unsafe.Add(p, 6*stride))
		o[7] = *(*T)(unsafe.Add(p, 7*stride))
	}
	for ; i < n; i++ {
		*(*T)(unsafe.Add(dst, i*int(unsafe.Sizeof(v)))) = *(*T)(unsafe.Add(src, i*stride))
	}
}

// look widens the span by n values that stand close together, aligned to their
// size as columns are.
func (s *span) look(values []byte, n int, k schema.Kind) {
	if n == 0 {
		return
	}
	_ = values[n*k.Size()-1]
	p := unsafe.Pointer(&values[0])
	switch k {
	case schema.I8:
		lo, hi := kern.MinMax(unsafe.Slice((*uint8)(p), n), true)
		s.widen(int64(int8(lo)), int64(int8(hi)), false)
	case schema.U8:
		lo, hi := kern.MinMax(unsafe.Slice((*uint8)(p), n), false)
		s.widen(int64(lo), int64(hi), false)
	case schema.I16:
		lo, hi := kern.MinMax(unsafe.Slice((*uint16)(p), n), true)
		s.widen(int64(int16(lo)), int64(int16(hi)), false)
	case schema.U16:
		lo, hi := kern.MinMax(unsafe.Slice((*uint16)(p), n), false)
		s.widen(int64(lo), int64(hi), false)
	case schema.I32:
		lo, hi := kern.MinMax(unsafe.Slice((*uint32)(p), n), true)
		s.widen(int64(int32(lo)), int64(int32(hi)), false)
	case schema.U32:
		lo, hi := kern.MinMax(unsafe.Slice((*uint32)(p), n), false)
		s.widen(int64(lo), int64(hi), false)
	default:
		lo, hi := kern.MinMax(unsafe.Slice((*uint64)(p), n), k == schema.I64)
		s.widen(int64(lo), int64(hi), k == schema.U64)
	}
}

// widen makes the span hold lo and hi, too.
func (s *span) widen(lo, hi int64, unsigned bool) {
	if unsigned {
		s.min = int64(min(uint64(s.min), uint64(lo)))
		s.max = int64(max(uint64(s.max), uint64(hi)))
		return
	}
	s.min, s.max = min(s.min, lo), max(s.max, hi)
}

// load reads a little-endian value.
func load[T Int](p unsafe.Pointer) T {
	v := *(*T)(p)
	if bigEndian {
		v = swap(v)
	}
	return v
}

// push is the way back: it copies n values that stand close together to one
// field of n records. dst begins at the first record's value.
func push(dst, src []byte, stride, n, size int) {
	if n == 0 {
		return
	}
	_, _ = src[n*size-1], dst[(n-1)*stride+size-1] // all that is touched below
	d, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	switch size {
	case 1:
		pushAs[uint8](d, p, stride, n)
	case 2:
		pushAs[uint16](d, p, stride, n)
	case 4:
		pushAs[uint32](d, p, stride, n)
	case 8:
		pushAs[uint64](d, p, stride, n)
	}
}

func pushAs[T Int](dst, src unsafe.Pointer, stride, n int) {
	var v T
	i := 0
	for ; i+8 <= n; i += 8 {
		p := (*[8]T)(unsafe.Add(src, i*int(unsafe.Sizeof(v))))
		o := unsafe.Add(dst, i*stride)
		*(*T)(o) = p[0]
		*(*T)(unsafe.Add(o, stride)) = p[1]
		*(*T)(unsafe.Add(o, 2*stride)) = p[2]
		*(*T)(unsafe.Add(o, 3*stride)) = p[3]
		*(*T)(unsafe.Add(o, 4*stride)) = p[4]
		*(*T)(unsafe.Add(o, 5*stride)) = p[5]
		*(*T)(unsafe.Add(o, 6*stride)) = p[6]
		*(*T)(unsafe.Add(o, 7*stride)) = p[7]
	}
	for ; i < n; i++ {
		*(*T)(unsafe.Add(dst, i*stride)) = *(*T)(unsafe.Add(src, i*int(unsafe.Sizeof(v))))
	}
}

// number writes the sequence numbers from first on into n records.
func number(dst []byte, width, n int, first uint64) {
	for i := range n {
		schema.PutSeq(dst[i*width:], first+uint64(i))
	}
}

// heads is what the sequence numbers and the order of times of a run of records
// say.
type heads struct {
	next  uint64 // the number that the next record must have
	wrong uint64 // not 0: one had another
	last  int64  // the time of the last record
	falls bool   // a time was below the one before
}

// add looks at n more records.
func (h *heads) add(rows []byte, width, n int) {
	if n == 0 {
		return
	}
	_ = rows[(n-1)*width+widthMin-1] // all that is touched below
	p := unsafe.Pointer(&rows[0])
	s := *h // in registers
	for i := range n {
		rec := unsafe.Add(p, i*width)
		ts := load[int64](unsafe.Add(rec, 8))
		s.wrong |= load[uint64](rec) ^ (s.next + uint64(i))
		if ts < s.last {
			s.falls = true
		}
		s.last = ts
	}
	s.next += uint64(n)
	*h = s
}
