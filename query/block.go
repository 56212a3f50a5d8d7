package query

import (
	"runtime"
	"unsafe"

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
