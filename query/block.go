package query

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"example.com/ledger/query/internal/kern"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

const (
	// blockColumns is the number of records looked at at a time in a column file:
	// two columns of 4 bytes fill an eighth of a MiB, which a core's own cache holds.
	blockColumns = 16384
	// blockRows is that of rows: a column is gathered from them, so the rows
	// themselves have to stay in the cache.
	blockRows = 1024
)

// littleEndian: values can be used as they lie in a file.
const littleEndian = runtime.GOARCH != "s390x" && runtime.GOARCH != "ppc64" &&
	runtime.GOARCH != "mips" && runtime.GOARCH != "mips64"

// A block is a window on a segment, with scratch memory for the values in it
// that don't lie as kernels want them: its size is bounded, and it is reused.
type block struct {
	s    *schema.Schema
	g    segment.Segment
	size int // records of a window
	lo   int // the window's first record in g
	n    int // records in the window
	cols []buffer
	mask [][]uint64 // one for each depth of a condition
	sel  []uint32
}

// A buffer is one column of a block.
type buffer struct {
	kind    schema.Kind
	base    []byte // of the segment's first value; nil for seq
	stride  int
	direct  bool     // the values lie as kernels want them
	have    state    // what holds for this window
	values  []uint64 // scratch: the window's values, as stored
	widened []uint64 // scratch: the same with 64 bits each
	packed  []uint64 // scratch: only the selected, as stored
	packedW []uint64 // scratch: only the selected, with 64 bits each
}

// state tells which of a buffer's scratch is filled for this window.
type state uint8

const (
	haveValues state = 1 << iota
	haveWidened
	havePacked
	havePackedWide
)

// A vec is a run of values of one kind, close together, in native order.
type vec struct {
	p    unsafe.Pointer
	n    int
	kind schema.Kind
}

// words returns the values; T must have the kind's size.
func words[T kern.Word](v vec) []T { return unsafe.Slice((*T)(v.p), v.n) }

func newBlock(s *schema.Schema) *block {
	b := &block{s: s, cols: make([]buffer, s.NumFields()+2)}
	for i := range b.cols {
		b.cols[i].kind = columnAt(s, i-2).kind
	}
	return b
}

func (b *block) col(id int) *buffer { return &b.cols[id+2] }

// open turns to a segment, of which these columns will be used: they are checked.
func (b *block) open(g segment.Segment, cols []int) error {
	b.g, b.size = g, blockColumns
	for i := range b.cols {
		b.cols[i].have = 0
	}
	for _, id := range cols {
		if id == colSeq {
			continue
		}
		base, stride, kind, err := g.Raw(id)
		if err != nil {
			return err
		}
		c := b.col(id)
		c.base, c.stride = base, stride
		size := kind.Size()
		c.direct = littleEndian && stride == size && uintptr(unsafe.Pointer(unsafe.SliceData(base)))%uintptr(size) == 0
		if stride != size {
			b.size = blockRows
		}
	}
	return nil
}

// close lets go of the segment.
func (b *block) close() {
	b.g = segment.Segment{}
	for i := range b.cols {
		b.cols[i].base = nil
	}
}

// load moves the window to records [lo, hi), at most size of them.
func (b *block) load(lo, hi int) {
	b.lo, b.n = lo, hi-lo
	for i := range b.cols {
		b.cols[i].have = 0
	}
}

// scratch returns memory for n values of 64 bits, of which it makes as much as a
// window can need.
func (b *block) scratch(p *[]uint64, n int) []uint64 {
	if cap(*p) < n {
		*p = make([]uint64, max(n, b.size))
	}
	return (*p)[:n]
}

// values returns a column's values in the window, as stored.
func (b *block) values(id int) vec {
	c := b.col(id)
	v := vec{n: b.n, kind: c.kind}
	if b.n == 0 {
		return v
	}
	size := c.kind.Size()
	if c.direct && id != colSeq {
		v.p = unsafe.Pointer(&c.base[b.lo*size])
		return v
	}
	w := b.scratch(&c.values, (b.n*size+7)/8)
	v.p = unsafe.Pointer(&w[0])
	if c.have&haveValues != 0 {
		return v
	}
	c.have |= haveValues
	if id == colSeq {
		first := b.g.First() + uint64(b.lo)
		for i := range w {
			w[i] = first + uint64(i)
		}
		return v
	}
	base := c.base[b.lo*c.stride:]
	switch size {
	case 1:
		gather(words[uint8](v), base, c.stride)
	case 2:
		gather(words[uint16](v), base, c.stride)
	case 4:
		gather(words[uint32](v), base, c.stride)
	default:
		gather(words[uint64](v), base, c.stride)
	}
	return v
}

// gather fills dst with the values that stand stride bytes apart in base. What
// it loads may lie at any address: machines that can't have that get memory from
// package segment in which it doesn't.
func gather[T kern.Word](dst []T, base []byte, stride int) {
	if len(dst) == 0 {
		return
	}
	size := int(unsafe.Sizeof(dst[0]))
	_ = base[(len(dst)-1)*stride+size-1] // all that is loaded
	if !littleEndian {
		for i := range dst {
			var x uint64
			for k := range size {
				x |= uint64(base[i*stride+k]) << (8 * k)
			}
			dst[i] = T(x)
		}
		return
	}
	p := unsafe.Pointer(&base[0])
	for i := range dst {
		dst[i] = *(*T)(unsafe.Add(p, i*stride))
	}
}

// at returns the bits of record i of the segment, widened to 64.
func (b *block) at(id, i int) uint64 {
	if id == colSeq {
		return b.g.First() + uint64(i)
	}
	c := b.col(id)
	base := c.base[i*c.stride:]
	switch c.kind {
	case schema.U8:
		return uint64(base[0])
	case schema.I8:
		return uint64(int8(base[0]))
	case schema.U16:
		return uint64(binary.LittleEndian.Uint16(base))
	case schema.I16:
		return uint64(int16(binary.LittleEndian.Uint16(base)))
	case schema.U32:
		return uint64(binary.LittleEndian.Uint32(base))
	case schema.I32:
		return uint64(int32(binary.LittleEndian.Uint32(base)))
	}
	return binary.LittleEndian.Uint64(base)
}

// direct64 returns all values of a column of 64 bits in the segment, where they
// lie as they are used; else nil.
func (b *block) direct64(id int) []uint64 {
	c := b.col(id)
	if !c.direct || c.kind.Size() != 8 || len(c.base) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&c.base[0])), len(c.base)/8)
}

// widen returns v's values with 64 bits each, in scratch unless they have them.
func (b *block) widen(v vec, scratch *[]uint64) []uint64 {
	if v.n == 0 || v.kind.Size() == 8 {
		return words[uint64](v)
	}
	w := b.scratch(scratch, v.n)
	switch v.kind {
	case schema.U8:
		for i, x := range words[uint8](v) {
			w[i] = uint64(x)
		}
	case schema.I8:
		for i, x := range words[uint8](v) {
			w[i] = uint64(int8(x))
		}
	case schema.U16:
		for i, x := range words[uint16](v) {
			w[i] = uint64(x)
		}
	case schema.I16:
		for i, x := range words[uint16](v) {
			w[i] = uint64(int16(x))
		}
	case schema.U32:
		for i, x := range words[uint32](v) {
			w[i] = uint64(x)
		}
	default:
		for i, x := range words[uint32](v) {
			w[i] = uint64(int32(x))
		}
	}
	return w
}

// wide returns a column's values in the window with 64 bits each.
func (b *block) wide(id int) []uint64 {
	c := b.col(id)
	if c.have&haveWidened != 0 {
		return c.widened[:b.n]
	}
	v := b.values(id)
	w := b.widen(v, &c.widened)
	if v.n > 0 && unsafe.Pointer(&w[0]) != v.p {
		c.have |= haveWidened
	}
	return w
}

// packed returns the values of a column at the selected positions, or all of
// them where sel is nil.
func (b *block) packed(id int, sel []uint32) vec {
	v := b.values(id)
	if sel == nil {
		return v
	}
	c := b.col(id)
	out := vec{n: len(sel), kind: c.kind}
	if len(sel) == 0 {
		return out
	}
	w := b.scratch(&c.packed, (len(sel)*c.kind.Size()+7)/8)
	out.p = unsafe.Pointer(&w[0])
	if c.have&havePacked != 0 {
		return out
	}
	c.have |= havePacked
	switch c.kind.Size() {
	case 1:
		pack(words[uint8](out), words[uint8](v), sel)
	case 2:
		pack(words[uint16](out), words[uint16](v), sel)
	case 4:
		pack(words[uint32](out), words[uint32](v), sel)
	default:
		pack(words[uint64](out), words[uint64](v), sel)
	}
	return out
}

// packedWide is packed with 64 bits a value.
func (b *block) packedWide(id int, sel []uint32) []uint64 {
	if sel == nil {
		return b.wide(id)
	}
	c := b.col(id)
	v := b.packed(id, sel)
	if c.have&havePackedWide != 0 {
		return c.packedW[:v.n]
	}
	w := b.widen(v, &c.packedW)
	if v.kind.Size() < 8 {
		c.have |= havePackedWide
	}
	return w
}

func pack[T kern.Word](dst, src []T, sel []uint32) {
	for i, k := range sel {
		dst[i] = src[k]
	}
}
