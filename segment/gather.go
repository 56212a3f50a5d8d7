package segment

import (
	"slices"

	"example.com/ledger/schema"
)

// gather appends the run, checked before, to dst in row form.
func (g Segment) gather(dst []byte) []byte {
	width := g.s.Width()
	if g.v.geo.Layout == Rows {
		return append(dst, g.rows[g.lo*width:][:g.n*width]...)
	}
	from := len(dst)
	dst = slices.Grow(dst, g.n*width)[:from+g.n*width]
	out := dst[from:]
	if g.s.Padded() {
		clear(out)
	}
	if g.n == 1 || !isAligned(out) {
		for i := range g.n {
			g.gatherOne(out[i*width:], i)
		}
		return dst
	}
	for at := 0; at < g.n; at += blockRows {
		n := min(blockRows, g.n-at)
		rows := out[at*width:][:n*width]
		number(rows, width, n, g.first+uint64(at))
		for _, p := range g.v.cols[:g.v.n] {
			src := g.v.data[p.off+(g.lo+at)*p.size:][:n*p.size]
			push(rows[p.target:], src, width, n, p.size)
		}
	}
	return dst
}

// gatherOne writes record i of the run to rec, wherever that begins.
func (g *Segment) gatherOne(rec []byte, i int) {
	schema.PutSeq(rec, g.first+uint64(i))
	at := g.lo + i
	for c := range g.v.cols[:g.v.n] {
		p := &g.v.cols[c]
		src := g.v.data[p.off+at*p.size:]
		dst := rec[p.target:]
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
