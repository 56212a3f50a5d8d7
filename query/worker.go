package query

import (
	"context"
	"slices"

	"example.com/ledger/segment"
)

// A worker scans parts, one after another, into groups of its own. Its memory is
// bounded by the size of a block and of a table, and by the number of groups; it
// is kept for the next query.
type worker struct {
	ctx    context.Context
	p      *plan
	b      *block
	groups groups
	zone   []zone // of each column of the part, when first asked for
	slots  []wide // of a run
	key    []uint64
	keys   [][]uint64 // of the selected records of a block, for each word of the key
	bucket []uint64   // of the same
	gids   []uint32
	sel    []uint32
	tab    tallies
	cols   []int
	parts  []part // of the query, for the worker that made the list

	// The part that is scanned, and what is left of the condition for it.
	part *part
	g    segment.Segment
	left *tree

	// Methods as functions, made once.
	knownOf, cheapOf func(col int) (span, bool)
	scanOpen         func() error
}

func newWorker() *worker {
	w := &worker{}
	w.knownOf, w.cheapOf, w.scanOpen = w.known, w.cheap, w.segment
	return w
}

// A zone is what is known of a column's values in a part.
type zone struct {
	span  span
	known bool
	asked bool
}

// reset gets a worker ready for a query.
func (w *worker) reset(ctx context.Context, p *plan) {
	w.ctx, w.p = ctx, p
	if w.b == nil || w.b.s != p.s {
		w.b = newBlock(p.s)
	}
	w.groups.reset(p)
	w.slots = append(w.slots[:0], p.init...)
	w.key = slices.Grow(w.key[:0], w.groups.width)[:w.groups.width]
	w.zone = slices.Grow(w.zone[:0], len(w.b.cols))[:len(w.b.cols)]
	w.tab.reset(p)
}

// known returns the order numbers between which a column's values in the part lie.
func (w *worker) known(id int) (span, bool) {
	z := &w.zone[id+2]
	if z.asked {
		return z.span, z.known
	}
	z.asked = true
	z.span, z.known = w.part.bounds(id, w.b.col(id).kind)
	return z.span, z.known
}

// bound is known, or all of the kind.
func (w *worker) bound(id int) span {
	if s, ok := w.known(id); ok {
		return s
	}
	return domain(w.b.col(id).kind)
}

// cheap is known, for what costs no look at a footer.
func (w *worker) cheap(id int) (span, bool) {
	if id < 0 {
		return w.known(id)
	}
	return span{}, false
}

// turn makes pt the part that is scanned, and finds what is left of the
// condition for it. It reports whether the part has to be looked at.
func (w *worker) turn(pt *part) bool {
	w.part = pt
	clear(w.zone)
	if w.left = w.p.where.under(w.cheapOf); w.left != never {
		w.left = w.left.under(w.knownOf)
	}
	return w.left != never && pt.Len() > 0
}
