// Package book is a matching engine: limit order books that trade by price,
// then time. It is deterministic and knows no clock, no disk and no random
// number: the same orders in the same sequence make the same fills and leave the
// same books. That is what lets an exchange keep a journal of its orders and
// make everything else again from it.
//
// Nothing in this package is safe for concurrent use: an engine belongs to the
// goroutine that matches.
package book

import (
	"iter"
	"math"

	"example.com/ledger/shapes"
)

// SeqMax is the largest sequence number of an order that an engine takes: a fill
// names its two orders by 32-bit numbers.
const SeqMax = math.MaxUint32

// Cross is a kind of order record beside those of package shapes: the notice of an
// auction's trade. The engine only counts it, and shapes.Halt.
const Cross shapes.Kind = 128

// An Outcome is what became of an order record.
type Outcome uint8

// Accepted is the outcome of an order that was carried out: an order that
// rested or traded, a reduction, a cancel, a print, or a notice. An
// immediate-or-cancel order that found nothing to trade with is Accepted, too.
// The others are rejects, which change nothing.
const (
	Accepted  Outcome = iota
	UnknownID         // a reduction or cancel of an id that this book has never had
	Gone              // a reduction or cancel of an order already filled or cancelled
	Duplicate         // a new order under an id that was used before
	Invalid           // no such kind or side, or a quantity below 1
	Outcomes          // how many there are
)

// String returns the outcome as a report names it.
func (o Outcome) String() string {
	return [...]string{"accepted", "unknown id", "no longer resting", "id used before", "invalid", "?"}[min(o, Outcomes)]
}

// An Engine matches the orders of up to 65,536 symbols, each in its own Book.
// The zero value is an exchange without orders.
type Engine struct {
	books []*Book // by symbol; nil where no order has named it
	fills int
}

// Fills returns how many fills the engine has made, prints included.
func (e *Engine) Fills() int { return e.fills }

// Book returns the book of a symbol.
func (e *Engine) Book(sym uint16) *Book {
	for int(sym) >= len(e.books) {
		e.books = append(e.books, nil)
	}
	if e.books[sym] == nil {
		e.books[sym] = newBook()
	}
	return e.books[sym]
}

// Apply carries out one order record, whose sequence number must be stamped in,
// at most SeqMax, and larger than those before it. It appends the fills to fills, in the
// order in which they happened, and returns them with what became of the order.
//
// A fill's time is that of its taker's record, so that a replay makes the same
// fill. A taker meets a maker at most once: afterwards one of them has nothing left.
// So the pair (taker, maker) names a fill.
func (e *Engine) Apply(o *shapes.Order, fills []shapes.Fill) ([]shapes.Fill, Outcome) {
	switch o.Kind {
	case shapes.Limit, shapes.IOC, shapes.Reduce, shapes.Cancel, shapes.Print:
	case shapes.Halt, Cross:
		return fills, Accepted
	default:
		return fills, Invalid
	}
	if o.Side > shapes.Sell || o.Qty < 1 && o.Kind != shapes.Cancel {
		return fills, Invalid
	}
	b := e.Book(o.Sym)
	switch o.Kind {
	case shapes.Reduce:
		return fills, b.cancel(o.Order, o.Qty)
	case shapes.Cancel:
		return fills, b.cancel(o.Order, math.MaxInt32)
	case shapes.Print:
		e.fills++
		return append(fills, printed(o)), Accepted
	case shapes.Limit:
		if b.orders[o.Order] != nil {
			return fills, Duplicate
		}
	}
	before := len(fills)
	fills, left := b.match(o, fills)
	e.fills += len(fills) - before
	if o.Kind == shapes.Limit {
		b.rest(o, left)
	}
	return fills, Accepted
}

// cancel takes up to qty from the order with this id.
func (b *Book) cancel(id uint32, qty int32) Outcome {
	switch r := b.orders[id]; r {
	case nil:
		return UnknownID
	case gone:
		return Gone
	default:
		b.reduce(r, min(qty, r.qty))
		return Accepted
	}
}

// printed is the fill of a print: a trade that happened elsewhere and is only
// reported. Its taker is the print's own record, and it has no maker.
func printed(o *shapes.Order) shapes.Fill {
	return shapes.Fill{
		TS: o.TS, Px: o.Px, Qty: o.Qty,
		Taker: uint32(o.Seq),
		Sym:   o.Sym, Side: o.Side, Flags: shapes.FlagHidden,
	}
}

// All yields every resting order: by symbol, bids before asks, the best price
// first, the oldest order first.
func (e *Engine) All() iter.Seq[Resting] {
	return func(yield func(Resting) bool) {
		for sym, b := range e.books {
			if b == nil {
				continue
			}
			for _, s := range []*side{&b.bids, &b.asks} {
				for r := range s.all(uint16(sym)) {
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}
