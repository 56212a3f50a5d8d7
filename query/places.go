package query

import (
	"unsafe"

	"example.com/ledger/internal/kern"
	"example.com/ledger/schema"
)

// A mapping turns keys into places of the table, and back.
type mapping struct {
	direct bool // the only key's bits are the place
	n      int  // keys
	lo     [4]uint64
	size   [4]uint32 // how many values
}

// mapping finds the part's: false if the keys take more than the table has.
func (w *worker) mapping() (m mapping, ok bool) {
	keys := w.p.keys
	if len(keys) == 1 && keys[0].kind.Size() <= 2 {
		return mapping{direct: true}, true
	}
	if len(keys) > len(m.lo) {
		return m, false
	}
	total := uint64(1)
	for i, k := range keys {
		z, known := w.known(k.id)
		if !known {
			z = domain(k.kind)
		}
		if z.hi-z.lo >= kern.TableSize {
			return m, false
		}
		m.lo[i], m.size[i] = z.lo, uint32(z.hi-z.lo+1)
		if total *= uint64(m.size[i]); total > kern.TableSize {
			return m, false
		}
	}
	m.n = len(keys)
	return m, true
}

func signed32(v vec) []int32 { return unsafe.Slice((*int32)(v.p), v.n) }

func signed64(v []uint64) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// places returns the place in the table of each selected record.
func (w *worker) places(sel []uint32) []uint16 {
	b, how := w.b, &w.tab.how
	if how.direct {
		v := b.packed(w.p.keys[0].id, sel)
		if v.kind.Size() == 2 {
			return words[uint16](v)
		}
		out := w.tab.scratch(v.n, b.size)
		for i, x := range words[uint8](v) {
			out[i] = uint16(x)
		}
		return out
	}
	var out []uint16
	for i, k := range w.p.keys {
		v := b.packed(k.id, sel)
		if i == 0 {
			out = w.tab.scratch(v.n, b.size)
			clear(out)
		}
		isSigned := k.kind.Signed()
		base := order(how.lo[i], isSigned) // the bits of the least value
		size := uint16(how.size[i])        // 0 if all of the table: then there's only one key
		switch k.kind.Size() {
		case 1:
			addPlaces(out, words[uint8](v), uint8(base), size)
		case 2:
			addPlaces(out, words[uint16](v), uint16(base), size)
		case 4:
			addPlaces(out, words[uint32](v), uint32(base), size)
		default:
			addPlaces(out, words[uint64](v), base, size)
		}
	}
	return out
}

func addPlaces[T kern.Word](out []uint16, v []T, base T, size uint16) {
	v = v[:len(out)]
	for i := range out {
		out[i] = out[i]*size + uint16(v[i]-base)
	}
}

func (t *tallies) scratch(n, most int) []uint16 {
	if cap(t.gids) < n {
		t.gids = make([]uint16, max(n, most))
	}
	return t.gids[:n]
}

// placeKey returns the key of a place in the table.
func (w *worker) placeKey(place uint16) []uint64 {
	key := w.key
	if w.p.every > 0 {
		key[0] = uint64(w.tab.bucket)
		key = key[1:]
	}
	how := &w.tab.how
	if how.direct {
		switch w.p.keys[0].kind {
		case schema.I8:
			key[0] = uint64(int8(place))
		case schema.I16:
			key[0] = uint64(int16(place))
		default:
			key[0] = uint64(place)
		}
		return w.key
	}
	rest := uint32(place)
	for i := how.n - 1; i >= 0; i-- {
		key[i] = order(how.lo[i]+uint64(rest%how.size[i]), w.p.keys[i].kind.Signed())
		rest /= how.size[i]
	}
	return w.key
}
