package book_test

import (
	"cmp"
	"slices"
	"testing"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/shapes"
	"pgregory.net/rapid"
)

// model is the engine as one would explain it: every order ever sent, in a
// list, searched from one end to the other for the best.
type model struct {
	orders []book.Resting
}

func (m *model) find(sym uint16, id uint32) *book.Resting {
	for i := range m.orders {
		if r := &m.orders[i]; r.Sym == sym && r.ID == id {
			return r
		}
	}
	return nil
}

// best is the resting order that o would trade with first, or nil.
func (m *model) best(o *shapes.Order) *book.Resting {
	var best *book.Resting
	for i := range m.orders {
		r := &m.orders[i]
		switch {
		case r.Qty == 0 || r.Sym != o.Sym || r.Side == o.Side:
		case o.Side == shapes.Buy && r.Px > o.Px, o.Side == shapes.Sell && r.Px < o.Px:
		case best == nil, // older orders come first, so a tie is theirs
			o.Side == shapes.Buy && r.Px < best.Px, o.Side == shapes.Sell && r.Px > best.Px:
			best = r
		}
	}
	return best
}

func (m *model) apply(o *shapes.Order) (fills []shapes.Fill, out book.Outcome) {
	switch o.Kind {
	case shapes.Halt, book.Cross:
		return nil, book.Accepted
	case shapes.Limit, shapes.IOC, shapes.Reduce, shapes.Cancel, shapes.Print:
	default:
		return nil, book.Invalid
	}
	if o.Side > shapes.Sell || o.Kind != shapes.Cancel && o.Qty < 1 {
		return nil, book.Invalid
	}
	known := m.find(o.Sym, o.Order)
	switch o.Kind {
	case shapes.Print:
		return []shapes.Fill{{TS: o.TS, Px: o.Px, Qty: o.Qty, Taker: uint32(o.Seq), Sym: o.Sym, Side: o.Side, Flags: shapes.FlagHidden}}, book.Accepted
	case shapes.Reduce, shapes.Cancel:
		switch {
		case known == nil:
			return nil, book.UnknownID
		case known.Qty == 0:
			return nil, book.Gone
		case o.Kind == shapes.Cancel:
			known.Qty = 0
		default:
			known.Qty = max(0, known.Qty-o.Qty)
		}
		return nil, book.Accepted
	}
	if o.Kind == shapes.Limit && known != nil {
		return nil, book.Duplicate
	}
	left := o.Qty
	for r := m.best(o); left > 0 && r != nil; r = m.best(o) {
		f := shapes.Fill{TS: o.TS, Px: r.Px, Qty: min(left, r.Qty), Taker: uint32(o.Seq), Maker: r.Seq, Sym: o.Sym, Side: o.Side}
		left -= f.Qty
		if r.Qty -= f.Qty; r.Qty == 0 {
			f.Flags = shapes.FlagMakerDone
		}
		fills = append(fills, f)
	}
	if o.Kind == shapes.Limit {
		m.orders = append(m.orders, book.Resting{Sym: o.Sym, Side: o.Side, Px: o.Px, Seq: uint32(o.Seq), ID: o.Order, Qty: left})
	}
	return fills, book.Accepted
}

// all lists what rests in the order of Engine.All.
func (m *model) all() []book.Resting {
	var all []book.Resting
	for _, r := range m.orders {
		if r.Qty > 0 {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b book.Resting) int {
		px := cmp.Compare(a.Px, b.Px)
		if a.Side == shapes.Buy {
			px = -px
		}
		return cmp.Or(cmp.Compare(a.Sym, b.Sym), cmp.Compare(a.Side, b.Side), px, cmp.Compare(a.Seq, b.Seq))
	})
	return all
}

// TestEngineAgainstModel: whatever is sent, the engine and the model make the
// same fills, reject the same orders and are left with the same books.
func TestEngineAgainstModel(t *testing.T) {
	kinds := []shapes.Kind{
		shapes.Limit, shapes.Limit, shapes.Limit, shapes.Limit, shapes.IOC, shapes.Reduce, shapes.Cancel,
		shapes.Print, shapes.Halt, book.Cross, shapes.Market, 0,
	}
	rapid.Check(t, func(t *rapid.T) {
		var engine book.Engine
		var m model
		for seq := range rapid.IntRange(1, 120).Draw(t, "orders") {
			o := shapes.Order{
				Seq:   uint64(seq),
				TS:    int64(seq) * 10,
				Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
				Side:  rapid.SampledFrom([]shapes.Side{shapes.Buy, shapes.Sell, shapes.Buy, shapes.Sell, shapes.NoSide}).Draw(t, "side"),
				Px:    rapid.Int32Range(-3, 5).Draw(t, "px"),
				Qty:   rapid.Int32Range(0, 9).Draw(t, "qty"),
				Sym:   rapid.SampledFrom([]uint16{0, 3}).Draw(t, "sym"),
				Order: rapid.Uint32Range(0, 30).Draw(t, "id"),
			}
			fills, out := engine.Apply(&o, nil)
			wantFills, wantOut := m.apply(&o)
			if out != wantOut || !slices.Equal(fills, wantFills) {
				t.Fatalf("order %+v:\n got %v %+v\nwant %v %+v", o, out, fills, wantOut, wantFills)
			}
			if got, want := slices.Collect(engine.All()), m.all(); !slices.Equal(got, want) {
				t.Fatalf("after order %+v the books are\n%+v, want\n%+v", o, got, want)
			}
			for _, r := range m.orders {
				if got := engine.Book(r.Sym).Left(r.ID); got != r.Qty {
					t.Fatalf("after order %+v order %d has %d left, want %d", o, r.ID, got, r.Qty)
				}
			}
		}
	})
}
