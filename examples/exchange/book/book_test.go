package book_test

import (
	"slices"
	"testing"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/shapes"
)

// limit, ioc, cut and cancel make the orders of these tests.
func limit(id uint32, side shapes.Side, px, qty int32) shapes.Order {
	return shapes.Order{Kind: shapes.Limit, Order: id, Side: side, Px: px, Qty: qty}
}

func ioc(side shapes.Side, px, qty int32) shapes.Order {
	return shapes.Order{Kind: shapes.IOC, Side: side, Px: px, Qty: qty}
}

func cut(id uint32, qty int32) shapes.Order {
	return shapes.Order{Kind: shapes.Reduce, Order: id, Qty: qty}
}

func cancel(id uint32) shapes.Order { return shapes.Order{Kind: shapes.Cancel, Order: id} }

// A trade is a fill in short: the maker's seq, price, quantity.
type trade struct {
	maker   uint32
	px, qty int32
}

func TestEngine(t *testing.T) {
	const buy, sell = shapes.Buy, shapes.Sell
	for _, tc := range []struct {
		name   string
		orders []shapes.Order // seq is the place in this list
		trades []trade
		left   []trade // what rests afterwards: seq, price, quantity
		last   book.Outcome
	}{
		{"no trade without a cross",
			[]shapes.Order{limit(1, buy, 99, 5), limit(2, sell, 100, 5)},
			nil, []trade{{0, 99, 5}, {1, 100, 5}}, book.Accepted},
		{"the better price goes first, at the maker's price",
			[]shapes.Order{limit(1, sell, 101, 5), limit(2, sell, 100, 5), limit(3, buy, 102, 7)},
			[]trade{{1, 100, 5}, {0, 101, 2}}, []trade{{0, 101, 3}}, book.Accepted},
		{"at one price the older order goes first",
			[]shapes.Order{limit(1, buy, 100, 5), limit(2, buy, 100, 5), ioc(sell, 100, 6)},
			[]trade{{0, 100, 5}, {1, 100, 1}}, []trade{{1, 100, 4}}, book.Accepted},
		{"what a limit order leaves rests, what an immediate one leaves does not",
			[]shapes.Order{limit(1, buy, 100, 5), limit(2, sell, 100, 9), ioc(buy, 100, 9)},
			[]trade{{0, 100, 5}, {1, 100, 4}}, nil, book.Accepted},
		{"a reduction keeps its place",
			[]shapes.Order{limit(1, buy, 100, 5), limit(2, buy, 100, 5), cut(1, 3), ioc(sell, 100, 3)},
			[]trade{{0, 100, 2}, {1, 100, 1}}, []trade{{1, 100, 4}}, book.Accepted},
		{"a reduction by all or more is a cancel",
			[]shapes.Order{limit(1, buy, 100, 5), cut(1, 6), cancel(1)}, nil, nil, book.Gone},
		{"a filled order can't be cancelled",
			[]shapes.Order{limit(1, buy, 100, 5), ioc(sell, 99, 5), cancel(1)},
			[]trade{{0, 100, 5}}, nil, book.Gone},
		{"an unknown id is told apart", []shapes.Order{cancel(7)}, nil, nil, book.UnknownID},
		{"an id is used once",
			[]shapes.Order{limit(1, buy, 100, 5), cancel(1), limit(1, buy, 100, 5)}, nil, nil, book.Duplicate},
		{"nothing is not a quantity", []shapes.Order{limit(1, buy, 100, 0)}, nil, nil, book.Invalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var engine book.Engine
			var fills []shapes.Fill
			var last book.Outcome
			for i := range tc.orders {
				tc.orders[i].Seq = uint64(i)
				fills, last = engine.Apply(&tc.orders[i], fills)
			}
			if engine.Fills() != len(fills) {
				t.Errorf("it has made %d fills and says %d", len(fills), engine.Fills())
			}
			var trades, left []trade
			for _, f := range fills {
				trades = append(trades, trade{f.Maker, f.Px, f.Qty})
			}
			for r := range engine.All() {
				left = append(left, trade{r.Seq, r.Px, r.Qty})
			}
			if !slices.Equal(trades, tc.trades) || !slices.Equal(left, tc.left) || last != tc.last {
				t.Errorf("trades %v, left %v, last %v\nwant %v, %v, %v", trades, left, last, tc.trades, tc.left, tc.last)
			}
		})
	}
}

// TestPrint: a print is a fill by itself, flagged, and leaves the book alone.
func TestPrint(t *testing.T) {
	var engine book.Engine
	o := shapes.Order{Seq: 4, TS: 9, Kind: shapes.Print, Side: shapes.Sell, Px: 100, Qty: 3, Sym: 2}
	fills, out := engine.Apply(&o, nil)
	want := shapes.Fill{TS: 9, Taker: 4, Side: shapes.Sell, Px: 100, Qty: 3, Sym: 2, Flags: shapes.FlagHidden}
	if out != book.Accepted || len(fills) != 1 || fills[0] != want {
		t.Errorf("got %v %+v, want %+v", out, fills, want)
	}
	for r := range engine.All() {
		t.Errorf("%+v rests", r)
	}
}

// BenchmarkApply: an order that rests and one that takes it.
func BenchmarkApply(b *testing.B) {
	var engine book.Engine
	var fills []shapes.Fill
	var seq uint64
	b.ReportAllocs()
	for b.Loop() {
		o := limit(uint32(seq), shapes.Buy, 100, 5)
		o.Seq = seq
		fills, _ = engine.Apply(&o, fills[:0])
		o = ioc(shapes.Sell, 100, 5)
		o.Seq = seq + 1
		fills, _ = engine.Apply(&o, fills[:0])
		seq += 2
	}
}
