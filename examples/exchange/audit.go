package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/shapes"
)

// An audit reads both journals from end to end and works out, without the
// matching engine, what must be true of them. It holds all orders in memory.
type audit struct {
	orders  []audited
	ids     map[orderID]uint32    // the limit order that first used an id, by seq
	kinds   map[shapes.Kind]int   // orders of each kind
	asked   map[shapes.Kind]int64 // and their quantities
	fills   int                   // matches of two orders
	prints  int                   // trades that never touched the book
	matched int64                 // quantity of the fills
	printed int64                 // quantity of the prints
	resting int                   // orders in the books

	// Of a file that says which resting order each execution hit:
	reproduced  int // executions that hit the same order here, at its price, for its size
	unknownRows int // rows about orders that the journal has never had
	unknownIDs  map[orderID]struct{}

	sum    hash.Hash
	row    []byte
	faults [checks]fault
}

type orderID struct {
	sym uint16
	id  uint32
}

// audited is an order and what the records after it have done to it.
type audited struct {
	shapes.Order
	filled int64 // by all its fills
	less   int64 // by reductions
	ended  bool  // by a cancel
}

// rests is what is left of it in the book.
func (a *audited) rests() int64 {
	if a.Kind != shapes.Limit || a.ended {
		return 0
	}
	return max(0, int64(a.Qty)-a.filled-a.less)
}

// A check is one of the things that an audit proves.
type check int

const (
	checkNamed   check = iota // each fill's orders are in the journal, before it
	checkSides                // a fill's two sides fit each other, and its price both limits
	checkFilled               // no order is filled beyond its quantity, and a print by all of it
	checkRebuilt              // the books follow from the journals, and no fill is missing
	checks
)

func (c check) String() string {
	return [...]string{
		"every fill names two earlier orders of the journal",
		"the two sides of every fill fit: symbol, sides, limits",
		"no order is filled beyond its quantity; each print is there",
		"books rebuilt from the journals, and fills, are those in memory",
	}[c]
}

// A fault is how often a check failed, and the first time.
type fault struct {
	n     int
	first string
}

func (a *audit) fail(c check, format string, args ...any) {
	if a.faults[c].n++; a.faults[c].n == 1 {
		a.faults[c].first = fmt.Sprintf(format, args...)
	}
}

func (a *audit) ok() bool { return a.faults == [checks]fault{} }

// auditDay audits the journals, which must begin with the day's first records,
// against the books that an engine has come to.
func auditDay(j *journals, engine *book.Engine) (*audit, error) {
	a := newAudit()
	if err := read(j.orders, false, a.order); err != nil {
		return nil, err
	}
	if err := read(j.fills, true, a.fill); err != nil {
		return nil, err
	}
	a.finish(engine)
	return a, nil
}

func newAudit() *audit {
	return &audit{
		ids: make(map[orderID]uint32), unknownIDs: make(map[orderID]struct{}),
		kinds: make(map[shapes.Kind]int), asked: make(map[shapes.Kind]int64), sum: sha256.New(),
	}
}

// fingerprint is short for the end state: all orders, all fills, all books.
func (a *audit) fingerprint() string { return hex.EncodeToString(a.sum.Sum(nil)[:8]) }

// order takes in the next record of the orders' journal.
func (a *audit) order(o *shapes.Order) error {
	a.row = appendOrder(a.row[:0], o)
	a.sum.Write(a.row)
	a.kinds[o.Kind]++
	a.asked[o.Kind] += int64(o.Qty)
	a.orders = append(a.orders, audited{Order: *o})
	if o.Side > shapes.Sell || o.Qty < 1 && o.Kind != shapes.Cancel {
		a.orders[o.Seq].ended = true // the engine refuses it
		return nil
	}
	id := orderID{o.Sym, o.Order}
	first, known := a.ids[id]
	switch o.Kind {
	case shapes.Limit:
		if known {
			a.orders[o.Seq].ended = true // refused, too
		} else {
			a.ids[id] = uint32(o.Seq)
		}
	case shapes.Reduce, shapes.Cancel, shapes.IOC:
		if !known {
			a.unknownRows++
			a.unknownIDs[id] = struct{}{}
		} else {
			a.orders[first].change(o)
		}
	}
	return nil
}

// change takes in what another record asks of the order.
func (a *audited) change(o *shapes.Order) {
	switch o.Kind {
	case shapes.Cancel:
		a.ended = true
	case shapes.Reduce:
		a.less += int64(o.Qty)
	}
}

// fill takes in the next record of the fills' journal.
func (a *audit) fill(f *shapes.Fill) error {
	a.row = appendFill(a.row[:0], f)
	a.sum.Write(a.row)
	if int(f.Taker) >= len(a.orders) {
		a.fail(checkNamed, "fill %d: taker %d of %d orders", f.Seq, f.Taker, len(a.orders))
		return nil
	}
	taker := &a.orders[f.Taker]
	taker.filled += int64(f.Qty)
	if f.Flags&shapes.FlagHidden != 0 {
		a.prints++
		a.printed += int64(f.Qty)
		if o := &taker.Order; o.Kind != shapes.Print || f.Maker != 0 || f.TS != o.TS || f.Px != o.Px || f.Qty != o.Qty || f.Sym != o.Sym || f.Side != o.Side {
			a.fail(checkSides, "fill %d is a print, and order %d isn't the same one", f.Seq, f.Taker)
		}
		return nil
	}
	a.fills++
	a.matched += int64(f.Qty)
	if f.Maker >= f.Taker {
		a.fail(checkNamed, "fill %d: maker %d came after taker %d", f.Seq, f.Maker, f.Taker)
		return nil
	}
	maker := &a.orders[f.Maker]
	maker.filled += int64(f.Qty)
	if why := misfit(f, &taker.Order, &maker.Order); why != "" {
		a.fail(checkSides, "fill %d of orders %d and %d: %s", f.Seq, f.Taker, f.Maker, why)
	}
	if taker.Kind == shapes.IOC && maker.Order.Order == taker.Order.Order && f.Px == taker.Px && f.Qty == taker.Qty {
		a.reproduced++
	}
	return nil
}

// misfit says what is wrong between a fill and its orders, or "".
func misfit(f *shapes.Fill, taker, maker *shapes.Order) string {
	switch {
	case f.Qty < 1:
		return "no quantity"
	case taker.Kind != shapes.Limit && taker.Kind != shapes.IOC, maker.Kind != shapes.Limit:
		return "one of them can't trade"
	case f.Sym != taker.Sym || f.Sym != maker.Sym:
		return "another symbol"
	case f.Side != taker.Side || f.Side != maker.Side.Opposite():
		return "sides that don't meet"
	case f.Px != maker.Px:
		return "not the maker's price"
	case f.Side == shapes.Buy && f.Px > taker.Px, f.Side == shapes.Sell && f.Px < taker.Px:
		return "beyond the taker's limit"
	case f.TS != taker.TS:
		return "not the taker's time"
	}
	return ""
}

// finish makes the books from the journals alone, as what is left of each limit
// order, and compares them with the engine's.
func (a *audit) finish(engine *book.Engine) {
	var rebuilt []book.Resting
	for i := range a.orders {
		o := &a.orders[i]
		if o.filled > int64(o.Qty) {
			a.fail(checkFilled, "order %d: %d filled of %d", o.Seq, o.filled, o.Qty)
		}
		if o.Kind == shapes.Print && o.filled == 0 && !o.ended {
			a.fail(checkFilled, "order %d is a print without a fill", o.Seq)
		}
		if left := o.rests(); left > 0 {
			rebuilt = append(rebuilt, book.Resting{Sym: o.Sym, Side: o.Side, Px: o.Px, Seq: uint32(o.Seq), ID: o.Order.Order, Qty: int32(left)})
		}
	}
	slices.SortFunc(rebuilt, func(x, y book.Resting) int {
		px := cmp.Compare(x.Px, y.Px)
		if x.Side == shapes.Buy {
			px = -px
		}
		return cmp.Or(cmp.Compare(x.Sym, y.Sym), cmp.Compare(x.Side, y.Side), px, cmp.Compare(x.Seq, y.Seq))
	})
	memory := slices.Collect(engine.All())
	a.resting = len(memory)
	if !slices.Equal(rebuilt, memory) {
		a.fail(checkRebuilt, "%d resting orders rebuilt, %d in memory, or others", len(rebuilt), len(memory))
	}
	if n := a.fills + a.prints; n != engine.Fills() {
		a.fail(checkRebuilt, "%d fills in the journal, %d made in memory", n, engine.Fills())
	}
	for _, r := range memory {
		fmt.Fprintln(a.sum, r)
	}
}
