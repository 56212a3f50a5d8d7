package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// CostMethod says which of the pieces of a position an opposite trade closes.
type CostMethod uint8

const (
	// FIFO closes the oldest first: realised P&L is exact.
	FIFO CostMethod = iota
	// AverageCost closes all alike, at their average cost. The cost that a partial
	// close takes along is rounded to the last decimal of price times quantity,
	// half to even; what rounding leaves stays with the rest, so that realised P&L
	// is exact again whenever the position is back to nothing.
	AverageCost
)

// PositionOptions configures Positions. The zero value takes px, qty, side and
// sym, and the accounts of taker_acct and maker_acct.
type PositionOptions struct {
	Price      string // "" is "px"
	Quantity   string // "" is "qty"; never negative
	Side       string // of the taker, 0 for buy and 1 for sell; "" is "side"
	Instrument string // "" is "sym" if there is such a field, else all are one
	Taker      string // the account that came in; "" is "taker_acct"
	Maker      string // the account that rested, which gets the other side; "" is "maker_acct" if there is one
	Method     CostMethod
}

// A Position is what an account has of an instrument, and what it has earned.
// Money has the decimals of price and quantity together.
type Position struct {
	Account    uint64
	Instrument uint64
	Quantity   Value // above 0 long, below 0 short
	Cost       Value // that the open quantity was bought for; of a short, sold for, below 0
	Realised   Value // P&L of what was closed
	Bought     Value // quantity
	Sold       Value // quantity
	Trades     int64
}

// Positions returns each account's position and realised P&L in each instrument,
// by account and instrument. It goes through the records by number. Account 0
// stands for one that isn't known, and has no position; records whose side is
// neither 0 nor 1 are left out. A price or a quantity of 2^63 and more, and a
// quantity below 0, is ErrInvalid.
func (q *Query) Positions(ctx context.Context, o PositionOptions) ([]Position, error) {
	fields := []string{
		defaultTo(o.Price, "px"), defaultTo(o.Quantity, "qty"),
		defaultTo(o.Side, "side"), defaultTo(o.Taker, "taker_acct"),
	}
	instrument := q.optional(&fields, o.Instrument, "sym")
	maker := q.optional(&fields, o.Maker, "maker_acct")
	b := &book{method: o.Method, limit: q.groups, instrument: instrument, maker: maker, accounts: map[[2]uint64]*holding{}}
	for r, err := range q.Rows(ctx, fields...) {
		if err != nil {
			return nil, err
		}
		if err := b.add(r); err != nil {
			return nil, err
		}
	}
	px, err := lookup(q.s, fields[0], 0)
	if err != nil {
		return nil, err
	}
	qty, err := lookup(q.s, fields[1], 0)
	if err != nil {
		return nil, err
	}
	return b.positions(px.scale, qty.scale), nil
}

// optional adds a field to fields: name, or byDefault if there is such a field.
// It returns its place, -1 if it added none.
func (q *Query) optional(fields *[]string, name, byDefault string) int {
	if name == "" {
		if _, ok := q.s.Index(byDefault); !ok {
			return -1
		}
		name = byDefault
	}
	*fields = append(*fields, name)
	return len(*fields) - 1
}

// A book has the holdings of all accounts.
type book struct {
	method     CostMethod
	limit      int
	instrument int // columns of the rows; -1 is none
	maker      int
	accounts   map[[2]uint64]*holding
}

// A holding is one account's position in one instrument.
type holding struct {
	lots     []lot // FIFO: open, oldest first, all of one direction
	gone     int   // lots at the front that are closed
	quantity wide
	cost     wide
	realised wide
	bought   wide
	sold     wide
	trades   int64
}

// A lot is a quantity at one price; the holding knows its direction.
type lot struct {
	px  int64
	qty int64
}

func (b *book) add(r *Rows) error {
	px, qty, side := r.Bits(0), r.Bits(1), r.Bits(2)
	accounts := [][]int64{r.Bits(3)}
	if b.maker >= 0 {
		accounts = append(accounts, r.Bits(b.maker))
	}
	var sym []int64
	if b.instrument >= 0 {
		sym = r.Bits(b.instrument)
	}
	for i := range px {
		if qty[i] < 0 || px[i] < 0 && !r.Columns[0].Kind.Signed() {
			return fmt.Errorf("%w: record %d: price %v, quantity %v", ErrInvalid, r.Seq(i), r.At(i, 0), r.At(i, 1))
		}
		if side[i] != 0 && side[i] != 1 || qty[i] == 0 {
			continue
		}
		for k, account := range accounts {
			if account[i] == 0 {
				continue
			}
			key := [2]uint64{uint64(account[i])}
			if sym != nil {
				key[1] = uint64(sym[i])
			}
			h, err := b.holding(key)
			if err != nil {
				return err
			}
			h.trade(b.method, px[i], qty[i], (side[i] == 0) == (k == 0))
		}
	}
	return nil
}

func (b *book) holding(key [2]uint64) (*holding, error) {
	h := b.accounts[key]
	if h == nil {
		if len(b.accounts) >= b.limit {
			return nil, fmt.Errorf("%w: more than %d positions", ErrTooMany, b.limit)
		}
		h = &holding{}
		b.accounts[key] = h
	}
	return h, nil
}

// trade buys or sells.
func (h *holding) trade(m CostMethod, px, qty int64, buy bool) {
	h.trades++
	if buy {
		h.bought.addInt(qty)
	} else {
		h.sold.addInt(qty)
	}
	if s := h.quantity.sign(); s != 0 && (s > 0) != buy {
		qty -= h.close(m, px, qty, s)
	}
	if qty > 0 {
		h.open(m, px, qty, buy)
	}
}

func signOf(buy bool) int64 {
	if buy {
		return 1
	}
	return -1
}

func (h *holding) open(m CostMethod, px, qty int64, buy bool) {
	h.quantity.addInt(signOf(buy) * qty)
	h.cost.addMul(uint64(px), uint64(signOf(buy)*qty), true, true)
	if m != FIFO {
		return
	}
	if n := len(h.lots); n > h.gone && h.lots[n-1].px == px && h.lots[n-1].qty <= math.MaxInt64-qty {
		h.lots[n-1].qty += qty
		return
	}
	if h.gone > len(h.lots)/2 { // make room without growing
		h.lots = append(h.lots[:0], h.lots[h.gone:]...)
		h.gone = 0
	}
	h.lots = append(h.lots, lot{px, qty})
}

// close takes up to qty off a position whose sign is s, and returns how much.
func (h *holding) close(m CostMethod, px, qty int64, s int) int64 {
	left := h.quantity
	if s < 0 {
		left = left.neg()
	}
	if have, ok := left.int64(); ok && have < qty {
		qty = have
	}
	var taken wide // the cost of what is closed, of the sign of the position
	if m == FIFO {
		taken = h.take(qty, s)
	} else {
		taken = h.share(qty, left)
	}
	// A long earns proceeds less cost; of a short both are below 0, and so it is the same.
	h.realised.addMul(uint64(px), uint64(int64(s)*qty), true, true)
	h.realised.add(taken.neg())
	h.cost.add(taken.neg())
	h.quantity.addInt(int64(-s) * qty)
	return qty
}

// take closes the oldest lots and returns their cost.
func (h *holding) take(qty int64, s int) (cost wide) {
	for qty > 0 {
		l := &h.lots[h.gone]
		n := min(qty, l.qty)
		cost.addMul(uint64(l.px), uint64(int64(s)*n), true, true)
		qty -= n
		if l.qty -= n; l.qty == 0 {
			h.gone++
		}
	}
	return cost
}

// share returns the part of the cost that qty of left has.
func (h *holding) share(qty int64, left wide) wide {
	if left == wideInt(qty) {
		return h.cost
	}
	num := h.cost.big()
	return wideBig(divHalfEven(num.Mul(num, big.NewInt(qty)), left.big()))
}

func (b *book) positions(px, qty uint8) []Position {
	out := make([]Position, 0, len(b.accounts))
	for key, h := range b.accounts {
		out = append(out, Position{
			Account: key[0], Instrument: key[1], Trades: h.trades,
			Quantity: intValue(h.quantity, qty),
			Cost:     intValue(h.cost, px+qty),
			Realised: intValue(h.realised, px+qty),
			Bought:   intValue(h.bought, qty),
			Sold:     intValue(h.sold, qty),
		})
	}
	slices.SortFunc(out, func(a, b Position) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Instrument, b.Instrument))
	})
	return out
}
