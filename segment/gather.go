package segment

import (
	"slices"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
)

// Record appends record i to dst in row form. It does not allocate if dst has
// room. It panics unless 0 ≤ i < Len.
func (g Segment) Record(dst []byte, i int) ([]byte, error) {
	if uint(i) >= uint(g.n) {
		panic(errIndex)
	}
	width := g.s.Width()
	if g.v == nil {
		return append(dst, g.rows[(g.lo+i)*width:][:width]...), nil
	}
	g.first += uint64(i)
	g.lo += i
	g.n = 1
	return g.copyTo(dst)
}

// Rows appends records [lo, hi) to dst in row form, padding zeroed. Every column
// is checked first. Where a mapped file can't be read it is disk.ErrFault, and
// dst comes back as it was. It panics unless 0 ≤ lo ≤ hi ≤ Len.
func (g Segment) Rows(dst []byte, lo, hi int) ([]byte, error) {
	g = g.Slice(lo, hi)
	if g.v == nil {
		width := g.s.Width()
		return append(dst, g.rows[g.lo*width:][:g.n*width]...), nil
	}
	return g.copyTo(dst)
}

// copyTo appends the run of a file to dst in row form.
func (g *Segment) copyTo(dst []byte) ([]byte, error) {
	f := g.v.f
	if err := f.checkAll(g.v); err != nil {
		return dst, err
	}
	size := g.n * g.s.Width()
	out := slices.Grow(dst, size)[:len(dst)+size]
	err := disk.Guard(func() error {
		g.gather(out[len(dst):])
		return nil
	})
	if err != nil {
		return dst, in(f.path, f.h.First, f.h.End(), err)
	}
	return out, nil
}

// gather fills out with the run, checked before.
func (g *Segment) gather(out []byte) {
	width := g.s.Width()
	if g.v.geo.Layout == Rows {
		copy(out, g.rows[g.lo*width:])
		return
	}
	if g.s.Padded() {
		clear(out)
	}
	if g.n == 1 || !isAligned(out) {
		for i := range g.n {
			g.gatherOne(out[i*width:], i)
		}
		return
	}
	cols := g.v.cols[:g.v.n]
	for at := 0; at < g.n; at += blockRows {
		n := min(blockRows, g.n-at)
		rows := out[at*width:][:n*width]
		number(rows, width, n, g.first+uint64(at))
		for c := range cols {
			p := &cols[c]
			push(rows[p.target:], g.v.data[p.off+(g.lo+at)*p.size:], width, n, p.size)
		}
	}
}

// gatherOne writes record i of the run to rec, wherever that begins.
func (g *Segment) gatherOne(rec []byte, i int) {
	schema.PutSeq(rec, g.first+uint64(i))
	at := g.lo + i
	cols := g.v.cols[:g.v.n]
	for c := range cols {
		p := &cols[c]
		src, dst := g.v.data[p.off+at*p.size:], rec[p.target:]
		switch p.size {
		case 1:
			dst[0] = src[0]
		case 2:
			*(*[2]byte)(dst) = *(*[2]byte)(src)
		case 4:
			*(*[4]byte)(dst) = *(*[4]byte)(src)
		default:
			*(*[8]byte)(dst) = *(*[8]byte)(src)
		}
	}
}
