package query

import (
	"encoding/binary"
	"unsafe"

	"example.com/ledger/internal/kern"
	"example.com/ledger/schema"
)

// A vec is a run of values of one kind, close together, in native order.
type vec struct {
	p    unsafe.Pointer
	n    int
	kind schema.Kind
}

// words returns the values; T must have the kind's size.
func words[T kern.Word](v vec) []T { return unsafe.Slice((*T)(v.p), v.n) }

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
