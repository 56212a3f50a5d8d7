package book

import (
	"iter"

	"example.com/ledger/shapes"
)

// A Book is the resting orders of one symbol: two sides, each a list of price
// levels, each level a queue with the oldest order at its head. Prices are
// integers in the journal's own steps. A Book belongs to one goroutine.
type Book struct {
	bids, asks side
	// orders finds each order that ever rested here by its id. Those that rest
	// no more point to gone, so that a late cancel is told from a wrong one.
	orders map[uint32]*resting
	free   *resting // resting structs to use again, linked by next
}

// resting is an order in the book, an element of its level's queue.
type resting struct {
	seq        uint32 // of the order record
	id         uint32
	qty        int32 // what is left of it, > 0
	level      *level
	prev, next *resting
}

// gone stands for every order that was filled, cancelled or reduced to nothing.
var gone = new(resting)

func newBook() *Book {
	return &Book{
		bids:   side{code: shapes.Buy, sign: 1},
		asks:   side{code: shapes.Sell, sign: -1},
		orders: make(map[uint32]*resting),
	}
}

// sides returns the side that an order of the given code rests on, and the one
// that it trades against.
func (b *Book) sides(code shapes.Side) (own, other *side) {
	if code == shapes.Buy {
		return &b.bids, &b.asks
	}
	return &b.asks, &b.bids
}

// match trades up to o.Qty against the other side, best price first and oldest
// order first, at the resting orders' prices and not beyond o.Px. It appends the
// fills and returns what is left of o.Qty.
func (b *Book) match(o *shapes.Order, fills []shapes.Fill) ([]shapes.Fill, int32) {
	_, other := b.sides(o.Side)
	left, limit := o.Qty, other.key(o.Px)
	for left > 0 {
		best := other.best()
		if best == nil || best.key < limit {
			break
		}
		maker := best.head
		qty := min(left, maker.qty)
		fill := shapes.Fill{
			TS: o.TS, Px: best.px, Qty: qty,
			Taker: uint32(o.Seq), Maker: maker.seq,
			Sym: o.Sym, Side: o.Side,
		}
		if qty == maker.qty {
			fill.Flags = shapes.FlagMakerDone
		}
		fills = append(fills, fill)
		left -= qty
		b.reduce(maker, qty)
	}
	return fills, left
}

// rest puts qty of the order at the tail of its price's queue. If qty is 0 only
// its id is kept, so that nobody can use it again.
func (b *Book) rest(o *shapes.Order, qty int32) {
	if qty == 0 {
		b.orders[o.Order] = gone
		return
	}
	r := b.free
	if r == nil {
		r = new(resting)
	} else {
		b.free = r.next
	}
	own, _ := b.sides(o.Side)
	*r = resting{seq: uint32(o.Seq), id: o.Order, qty: qty}
	own.at(o.Px).push(r)
	b.orders[o.Order] = r
}

// reduce takes qty from a resting order, which keeps its place in the queue
// unless nothing is left of it.
func (b *Book) reduce(r *resting, qty int32) {
	if r.qty -= qty; r.qty > 0 {
		return
	}
	l := r.level
	l.remove(r)
	if l.head == nil {
		l.side.drop(l)
	}
	b.orders[r.id] = gone
	*r = resting{next: b.free}
	b.free = r
}

// Best returns the best price on a side; ok is false if the side is empty.
func (b *Book) Best(code shapes.Side) (px int32, ok bool) {
	own, _ := b.sides(code)
	if l := own.best(); l != nil {
		return l.px, true
	}
	return 0, false
}

// Left returns what is left of the order with this id: 0 if it doesn't rest.
func (b *Book) Left(id uint32) int32 {
	if r := b.orders[id]; r != nil {
		return r.qty // gone has 0
	}
	return 0
}

// A Resting is one order of a book as it stands: what the books of two engines
// are compared by.
type Resting struct {
	Sym  uint16
	Side shapes.Side
	Px   int32
	Seq  uint32 // of the order record
	ID   uint32
	Qty  int32 // what is left of it
}

// all yields the orders of a side, best price first, oldest first.
func (s *side) all(sym uint16) iter.Seq[Resting] {
	return func(yield func(Resting) bool) {
		for i := len(s.levels) - 1; i >= 0; i-- {
			l := s.levels[i]
			for r := l.head; r != nil; r = r.next {
				if !yield(Resting{sym, s.code, l.px, r.seq, r.id, r.qty}) {
					return
				}
			}
		}
	}
}
