package main

import (
	"testing"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/examples/exchange/flow"
	"example.com/ledger/shapes"
	"pgregory.net/rapid"
)

// traffic is a generated day without a disk: its orders, its fills, its books.
func traffic(n, symbols int, seed uint64) (orders []shapes.Order, fills []shapes.Fill, engine *book.Engine) {
	s := settings{orders: n, symbols: symbols, seed: seed, tz: "UTC", batch: 1}
	if err := s.check(func(string) bool { return false }); err != nil {
		panic(err)
	}
	source := flow.NewGenerator(n, symbols, seed, s.day)
	engine = new(book.Engine)
	for seq := range uint64(n) {
		var o shapes.Order
		if err := source.Next(&o); err != nil {
			panic(err)
		}
		o.Seq = seq
		orders = append(orders, o)
		fills, _ = engine.Apply(&o, fills)
	}
	for i := range fills {
		fills[i].Seq = uint64(i)
	}
	return orders, fills, engine
}

// audited runs an audit over records in memory.
func auditOf(orders []shapes.Order, fills []shapes.Fill, engine *book.Engine) *audit {
	a := newAudit()
	for i := range orders {
		a.order(&orders[i])
	}
	for i := range fills {
		a.fill(&fills[i])
	}
	a.finish(engine)
	return a
}

// TestAuditFindsAnyChange: an audit has nothing to say about an honest day, and
// finds any one thing wrong with its fills.
func TestAuditFindsAnyChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		orders, fills, engine := traffic(rapid.IntRange(400, 1500).Draw(t, "orders"), rapid.IntRange(1, 4).Draw(t, "symbols"), rapid.Uint64().Draw(t, "seed"))
		if a := auditOf(orders, fills, engine); !a.ok() {
			t.Fatalf("an honest day: %+v", a.faults)
		}
		if len(fills) == 0 {
			return
		}
		i := rapid.IntRange(0, len(fills)-1).Draw(t, "fill")
		f := &fills[i]
		change := rapid.SampledFrom([]string{"px", "qty", "sym", "hidden", "missing", "twice", "taker", "maker", "side", "ts"}).Draw(t, "change")
		switch change {
		case "px":
			f.Px++
		case "qty":
			f.Qty++
		case "sym":
			f.Sym++
		case "hidden":
			f.Flags ^= shapes.FlagHidden
		case "missing":
			fills = append(fills[:i], fills[i+1:]...)
		case "twice":
			fills = append(fills, *f)
		case "taker":
			f.Taker = uint32(len(orders))
		case "maker":
			f.Maker = f.Taker + 1
		case "side":
			f.Side = f.Side.Opposite()
		case "ts":
			f.TS++
		}
		if auditOf(orders, fills, engine).ok() {
			t.Fatalf("nobody noticed: %s of fill %d: %+v", change, i, *f)
		}
	})
}

// TestAuditNamesTheCheck: each check finds what it is for.
func TestAuditNamesTheCheck(t *testing.T) {
	buy := shapes.Order{Seq: 0, Kind: shapes.Limit, Side: shapes.Buy, Order: 1, Px: 100, Qty: 10}
	sell := shapes.Order{Seq: 1, Kind: shapes.IOC, Side: shapes.Sell, Order: 2, Px: 99, Qty: 20}
	good := shapes.Fill{Taker: 1, Maker: 0, Px: 100, Qty: 10, Side: shapes.Sell}
	for _, tc := range []struct {
		name  string
		fills func(f shapes.Fill) []shapes.Fill
		check check
	}{
		{"a taker from the future", func(f shapes.Fill) []shapes.Fill { f.Taker = 2; return []shapes.Fill{good, f} }, checkNamed},
		{"a maker after its taker", func(f shapes.Fill) []shapes.Fill { f.Taker, f.Maker = 0, 1; return []shapes.Fill{good, f} }, checkNamed},
		{"a price that the taker refused", func(f shapes.Fill) []shapes.Fill { f.Px = 98; return []shapes.Fill{f} }, checkSides},
		{"two sellers", func(f shapes.Fill) []shapes.Fill { f.Side = shapes.Buy; return []shapes.Fill{f} }, checkSides},
		{"more than was ordered", func(f shapes.Fill) []shapes.Fill { return []shapes.Fill{good, f} }, checkFilled},
		{"less than was matched", func(f shapes.Fill) []shapes.Fill { f.Qty = 9; return []shapes.Fill{f} }, checkRebuilt},
	} {
		var engine book.Engine
		orders := []shapes.Order{buy, sell}
		for i := range orders {
			engine.Apply(&orders[i], nil)
		}
		if a := auditOf(orders, []shapes.Fill{good}, &engine); !a.ok() {
			t.Fatalf("the good fill: %+v", a.faults)
		}
		a := auditOf(orders, tc.fills(good), &engine)
		if a.faults[tc.check].n == 0 {
			t.Errorf("%s: found %+v, want %q", tc.name, a.faults, tc.check)
		}
	}
}
