package flow

import (
	"io"
	"math/bits"
	"math/rand/v2"
	"time"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/shapes"
)

// GeneratorScale is the number of decimal digits of a generated price: cents.
const GeneratorScale = 2

// depth is the number of orders in a symbol's book below which nobody cancels.
const depth = 100

// A Generator makes order flow that looks like a stock market's: bursts and
// pauses, a few busy symbols and many quiet ones, prices that crowd near the
// touch and thin out behind it, round lots, nearly as many cancels as orders, and
// some cancels that come too late.
//
// Its traders see the market: the generator runs a matching engine of its own
// over what it has sent. It computes with integers only, so that a seed makes the
// same flow on every machine.
type Generator struct {
	left    int // records still to make; below 0: without end
	random  *rand.Rand
	now     int64 // ns since 1970 UTC
	market  book.Engine
	symbols []symbol
	weights int    // sum of the symbols' weights
	id      uint32 // of the newest order
	seq     uint64
	fills   []shapes.Fill
}

// symbol is what the traders of one symbol remember.
type symbol struct {
	weight int
	fair   int32  // the price they think right; a random walk
	sent   []sent // orders that may still rest
}

// sent is an order in its trader's memory.
type sent struct {
	id   uint32
	side shapes.Side
}

// NewGenerator makes n records (without end if n is negative) for so many
// symbols, from 1 to 65,536, beginning at open.
func NewGenerator(n, symbols int, seed uint64, open time.Time) *Generator {
	g := &Generator{
		left:   n,
		random: rand.New(rand.NewPCG(seed, 0x6c6564676572)),
		now:    open.UnixNano(),
	}
	for i := range symbols {
		s := symbol{weight: max(1, 64/(i+1)), fair: int32(50_00 + g.random.IntN(200_00))}
		g.weights += s.weight
		g.symbols = append(g.symbols, s)
	}
	return g
}

// Next makes a record. Behind the last it returns io.EOF, and no other error.
func (g *Generator) Next(o *shapes.Order) error {
	if g.left == 0 {
		return io.EOF
	}
	g.left--
	g.tick()
	sym := g.pick()
	g.walk(&g.symbols[sym])
	account := uint32(1 + g.random.IntN(200))
	*o = shapes.Order{TS: g.now, Sym: uint16(sym), Account: account, Client: account<<8 | uint32(g.random.IntN(4))}
	g.decide(o)

	numbered := *o
	numbered.Seq = g.seq
	g.seq++
	g.fills, _ = g.market.Apply(&numbered, g.fills[:0])
	return nil
}

// decide chooses what is sent: once the books are filled, of a hundred records
// about 48 limit orders, 44 cancels, 4 immediate-or-cancel orders, 2 reductions
// and 2 prints.
func (g *Generator) decide(o *shapes.Order) {
	o.Side = shapes.Buy
	if g.chance(50) {
		o.Side = shapes.Sell
	}
	s := &g.symbols[o.Sym]
	switch p := g.random.IntN(100); {
	case p < 47 && len(s.sent) < depth:
		g.place(o, s)
	case p < 45 && g.cancel(o, s):
	case p < 47 && g.reduce(o, s):
	case p < 51:
		g.take(o, s)
	case p < 53:
		o.Kind, o.Px, o.Qty = shapes.Print, s.fair, g.lots()
	default:
		g.place(o, s)
	}
}

// place sends a limit order: mostly behind or at the touch, now and then a step
// before it, seldom through the other side.
func (g *Generator) place(o *shapes.Order, s *symbol) {
	o.Kind, o.Qty, o.Order = shapes.Limit, g.lots(), g.nextID()
	px, ok := g.market.Book(o.Sym).Best(o.Side)
	if !ok {
		px = s.fair - g.better(o.Side, 2)
	}
	switch p := g.random.IntN(100); {
	case p < 1: // cross the fair price: trades if somebody is there
		px = s.fair + g.better(o.Side, 2)
	case p < 18: // improve, if there is room below the fair price
		if next := px + g.better(o.Side, 1); (next < s.fair) == (o.Side == shapes.Buy) {
			px = next
		}
	default: // join the queue at or behind the touch
		px -= g.better(o.Side, g.distance())
	}
	o.Px = max(px, 1)
	s.sent = append(s.sent, sent{o.Order, o.Side})
}

// take sends an immediate-or-cancel order up to a few steps through the touch.
func (g *Generator) take(o *shapes.Order, s *symbol) {
	o.Kind, o.Qty, o.Order = shapes.IOC, g.lots(), g.nextID()
	px, ok := g.market.Book(o.Sym).Best(o.Side.Opposite())
	if !ok {
		px = s.fair
	}
	o.Px = max(px+g.better(o.Side, int32(g.random.IntN(3))), 1)
}

// cancel takes an order out of the market: one that rests, but for a few that
// come too late, and very few that nobody knows. It is false if there is none.
func (g *Generator) cancel(o *shapes.Order, s *symbol) bool {
	order, _ := g.resting(o.Sym, s, true)
	if order.id == 0 {
		return false
	}
	if g.random.IntN(2000) == 0 {
		order.id += 1 << 31
	}
	o.Kind, o.Order, o.Side = shapes.Cancel, order.id, order.side
	return true
}

// reduce takes a part of a resting order, if there is one larger than 1.
func (g *Generator) reduce(o *shapes.Order, s *symbol) bool {
	order, qty := g.resting(o.Sym, s, false)
	if qty < 2 {
		return false
	}
	o.Kind, o.Order, o.Side = shapes.Reduce, order.id, order.side
	o.Qty = 1 + int32(g.random.IntN(int(qty-1)))
	return true
}

// resting picks one of the orders sent and tells what is left of it. It forgets
// those it finds filled, and the one it picks if that is to be taken out. One in
// twenty of the filled it picks all the same, if taken. The id is 0 if there is none.
func (g *Generator) resting(sym uint16, s *symbol, taken bool) (order sent, qty int32) {
	for len(s.sent) > 0 {
		i, last := g.random.IntN(len(s.sent)), len(s.sent)-1
		order, qty = s.sent[i], g.market.Book(sym).Left(s.sent[i].id)
		if taken || qty == 0 {
			s.sent[i], s.sent = s.sent[last], s.sent[:last]
		}
		if qty > 0 || taken && g.chance(5) {
			return order, qty
		}
	}
	return sent{}, 0
}

// tick lets time pass: mostly microseconds, in one record of eight up to a second.
func (g *Generator) tick() {
	pause := int64(1 + g.random.IntN(20_000))
	if g.random.IntN(8) == 0 {
		pause <<= 4 + g.random.IntN(13)
	}
	g.now += pause
}

// pick chooses a symbol: the second is half as busy as the first, the third a
// third as busy, and so on.
func (g *Generator) pick() int {
	p := g.random.IntN(g.weights)
	for i := range g.symbols {
		if p -= g.symbols[i].weight; p < 0 {
			return i
		}
	}
	return 0
}

// walk moves the fair price a cent up or down, one time in eight.
func (g *Generator) walk(s *symbol) {
	switch g.random.IntN(16) {
	case 0:
		s.fair++
	case 1:
		s.fair = max(s.fair-1, 1_00)
	}
}

// distance is how many cents behind the touch an order joins: 0 half of the
// time, then each step half as often, and sometimes far away.
func (g *Generator) distance() int32 {
	d := int32(bits.TrailingZeros32(g.random.Uint32() | 1<<12))
	if g.random.IntN(16) == 0 {
		d += int32(g.random.IntN(200))
	}
	return d
}

// lots is a quantity: round lots mostly, odd ones sometimes.
func (g *Generator) lots() int32 {
	if g.random.IntN(4) == 0 {
		return int32(1 + g.random.IntN(99))
	}
	return int32(100 * (1 + bits.TrailingZeros32(g.random.Uint32()|1<<5)))
}

// better is a price difference that makes an order of this side more eager.
func (g *Generator) better(side shapes.Side, cents int32) int32 {
	if side == shapes.Buy {
		return cents
	}
	return -cents
}

func (g *Generator) chance(percent int) bool { return g.random.IntN(100) < percent }

func (g *Generator) nextID() uint32 {
	g.id++
	return g.id
}
