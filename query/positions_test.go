package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"example.com/ledger/schema"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// trade is one fill between accounts.
type trade struct{ px, qty, side, sym, taker, maker int64 }

var tradeFields = []string{"px", "qty", "side", "sym", "taker_acct", "maker_acct"}

func tradeRows(t fataler, s *schema.Schema, in []trade) []byte {
	recs := make([]byte, len(in)*s.Width())
	for i, x := range in {
		rec := recs[i*s.Width():][:s.Width()]
		for k, v := range []int64{x.px, x.qty, x.side, x.sym, x.taker, x.maker} {
			f, _ := s.Index(tradeFields[k])
			if err := s.PutInt(rec, f, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	return recs
}

// TestPositionsAgainstUnits keeps every single unit that an account has in a
// queue, and closes the oldest.
func TestPositionsAgainstUnits(t *testing.T) {
	s := shapes.TradeSchema()
	rapid.Check(t, func(t *rapid.T) {
		var in []trade
		for range rapid.IntRange(0, 60).Draw(t, "trades") {
			in = append(in, trade{
				px: int64(rapid.IntRange(-3, 10).Draw(t, "px")), qty: int64(rapid.IntRange(0, 5).Draw(t, "qty")),
				side: int64(rapid.IntRange(0, 2).Draw(t, "side")), sym: int64(rapid.IntRange(0, 1).Draw(t, "sym")),
				taker: int64(rapid.IntRange(0, 3).Draw(t, "taker")), maker: int64(rapid.IntRange(0, 3).Draw(t, "maker")),
			})
		}
		type units struct {
			queue    []int64 // price of each unit open
			long     bool
			realised int64
			cash     int64
			n        int64
		}
		want := map[[2]int64]*units{}
		for _, x := range in {
			if x.side == 2 || x.qty == 0 {
				continue
			}
			for k, account := range []int64{x.taker, x.maker} {
				if account == 0 {
					continue
				}
				key := [2]int64{account, x.sym}
				if want[key] == nil {
					want[key] = &units{}
				}
				u := want[key]
				u.n++
				buy := (x.side == 0) == (k == 0)
				for range x.qty {
					if buy {
						u.cash -= x.px
					} else {
						u.cash += x.px
					}
					if len(u.queue) == 0 || u.long == buy {
						u.long, u.queue = buy, append(u.queue, x.px)
						continue
					}
					if u.long {
						u.realised += x.px - u.queue[0]
					} else {
						u.realised += u.queue[0] - x.px
					}
					u.queue = u.queue[1:]
				}
			}
		}
		v, done := snapshot(t, s, tradeRows(t, s, in), stream.Options{Capacity: 16}, false)
		defer done()
		for _, method := range []CostMethod{FIFO, AverageCost} {
			got, err := From(v).Positions(context.Background(), PositionOptions{Method: method})
			if err != nil || len(got) != len(want) {
				t.Fatalf("%d positions, %v; want %d", len(got), err, len(want))
			}
			for _, p := range got {
				u := want[[2]int64{int64(p.Account), int64(p.Instrument)}]
				open, cost := int64(len(u.queue)), int64(0)
				for _, px := range u.queue {
					cost += px
				}
				if !u.long {
					open, cost = -open, -cost
				}
				q, _ := p.Quantity.Int64()
				c, _ := p.Cost.Int64()
				r, _ := p.Realised.Int64()
				bought, _ := p.Bought.Int64()
				sold, _ := p.Sold.Int64()
				if q != open || p.Trades != u.n || bought-sold != open || r-c != u.cash || p.Cost.Scale() != 16 {
					t.Fatalf("%d/%d, method %d: %+v; want %d open, cash %d", p.Account, p.Instrument, method, p, open, u.cash)
				}
				if method == FIFO && (c != cost || r != u.realised) || open == 0 && (c != 0 || r != u.realised) {
					t.Fatalf("%d/%d, method %d: cost %d, realised %d; want %d, %d", p.Account, p.Instrument, method, c, r, cost, u.realised)
				}
			}
		}
	})
}

// TestAverageCost: the rounded part of a cost, and values beyond 64 bits.
func TestAverageCost(t *testing.T) {
	s := shapes.TradeSchema()
	big := int64(math.MaxInt64)
	in := []trade{
		{px: 10, qty: 1, side: 0, taker: 1}, {px: 11, qty: 2, side: 0, taker: 1}, // cost 32 for 3
		{px: 20, qty: 1, side: 1, taker: 1}, // takes 32/3, rounded to 11
		{px: big, qty: big, side: 0, taker: 2}, {px: big, qty: big, side: 0, taker: 2},
		{px: -big, qty: big, side: 1, taker: 2},
	}
	v, done := snapshot(t, s, tradeRows(t, s, in), stream.Options{}, false)
	defer done()
	for method, want := range map[CostMethod]string{
		FIFO: "1: 2 cost 22 realised 10; " +
			"2: 9223372036854775807 cost 85070591730234615847396907784232501249 realised -170141183460469231694793815568465002498; ",
		AverageCost: "1: 2 cost 21 realised 9; " +
			"2: 9223372036854775807 cost 85070591730234615847396907784232501249 realised -170141183460469231694793815568465002498; ",
	} {
		got, err := From(v).Positions(context.Background(), PositionOptions{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, p := range got {
			text += fmt.Sprintf("%d: %s cost %s realised %s; ", p.Account, p.Quantity.AppendRaw(nil), p.Cost.AppendRaw(nil), p.Realised.AppendRaw(nil))
		}
		if text != want {
			t.Errorf("method %d:\n%s\nwant\n%s", method, text, want)
		}
	}
	if _, err := From(v).MaxGroups(1).Positions(context.Background(), PositionOptions{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("two positions, one allowed: %v", err)
	}
	if _, err := From(v).Positions(context.Background(), PositionOptions{Taker: "nosuch"}); !isInvalid(err) {
		t.Errorf("unknown account field: %v", err)
	}
}

// TestPositionsOfOneSide: a shape with one account and no instrument.
func TestPositionsOfOneSide(t *testing.T) {
	s := mustSchema(schema.New(schema.Nanosecond,
		schema.Field{Name: "px", Kind: schema.I32}, schema.Field{Name: "qty", Kind: schema.U16},
		schema.Field{Name: "side", Kind: schema.U8}, schema.Field{Name: "account", Kind: schema.U8}))
	recs := make([]byte, 2*s.Width())
	for i, x := range [][]int64{{5, 3, 0, 9}, {7, 2, 1, 9}} {
		for f, v := range x {
			if err := s.PutInt(recs[i*s.Width():][:s.Width()], f, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	v, done := snapshot(t, s, recs, stream.Options{}, false)
	defer done()
	got, err := From(v).Positions(context.Background(), PositionOptions{Taker: "account"})
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	if p := got[0]; p.Account != 9 || p.Quantity.String() != "1" || p.Cost.String() != "5" || p.Realised.String() != "4" {
		t.Errorf("%+v", p)
	}
}

func TestPositionsRefuseNegativeQuantity(t *testing.T) {
	s := shapes.TradeSchema()
	v, done := snapshot(t, s, tradeRows(t, s, []trade{{px: 1, qty: -1, taker: 1}}), stream.Options{}, false)
	defer done()
	if _, err := From(v).Positions(context.Background(), PositionOptions{}); !isInvalid(err) {
		t.Errorf("quantity -1: %v", err)
	}
}

// TestLifecycle follows one order over two journals.
func TestLifecycle(t *testing.T) {
	os, fs := shapes.OrderSchema(), shapes.FillSchema()
	put := func(s *schema.Schema, ts int64, kv ...any) []byte {
		rec := make([]byte, s.Width())
		schema.PutTime(rec, ts)
		for i := 0; i < len(kv); i += 2 {
			f, ok := s.Index(kv[i].(string))
			if !ok {
				t.Fatal(kv[i])
			}
			if err := s.PutInt(rec, f, int64(kv[i+1].(int))); err != nil {
				t.Fatal(err)
			}
		}
		return rec
	}
	var orders, fills []byte
	for _, r := range [][]byte{
		put(os, 10, "order", 7, "qty", 10, "px", 500), put(os, 11, "order", 8, "qty", 3),
		put(os, 30, "order", 7, "qty", 2, "kind", 2), put(os, 50, "order", 7, "kind", 3),
	} {
		orders = append(orders, r...)
	}
	for _, r := range [][]byte{
		put(fs, 11, "taker", 8, "maker", 7, "qty", 3, "px", 500), put(fs, 12, "taker", 9, "maker", 6, "qty", 1),
		put(fs, 30, "taker", 7, "maker", 5, "qty", 4, "px", 499),
	} {
		fills = append(fills, r...)
	}
	ov, done := snapshot(t, os, orders, stream.Options{Capacity: 2}, false)
	defer done()
	fv, done2 := snapshot(t, fs, fills, stream.Options{Capacity: 2}, false)
	defer done2()
	got, err := Lifecycle(context.Background(), ov, fv, 7, LifecycleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, e := range got {
		text += fmt.Sprintf("%v/%d@%d %v x %v filled %v; ", e.Fill, e.Seq, e.Time, e.Price, e.Quantity, e.Filled)
		if len(e.Record) != 40 {
			t.Errorf("record of %d bytes", len(e.Record))
		}
	}
	want := "false/0@10 5.00 x 10 filled 0; true/0@11 5.00 x 3 filled 3; false/2@30 0.00 x 2 filled 3; " +
		"true/2@30 4.99 x 4 filled 7; false/3@50 0.00 x 0 filled 7; "
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if none, err := Lifecycle(context.Background(), ov, fv, 99, LifecycleOptions{}); err != nil || len(none) != 0 {
		t.Errorf("unknown order: %v, %v", none, err)
	}
	// Fills may name an order by its number in the other journal.
	bySeq, err := Lifecycle(context.Background(), ov, fv, 8, LifecycleOptions{OrderFields: []string{"seq"}, FillFields: []string{"taker"}})
	if err != nil || len(bySeq) != 1 || !bySeq[0].Fill {
		t.Errorf("by number: %v, %v", bySeq, err)
	}
}
