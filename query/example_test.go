package query_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"example.com/ledger/query"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// fills makes a stream of a few fills, one every 20 seconds, and returns a
// snapshot of it. Real programs handle errors and close both.
func fills() (v *stream.Snapshot, done func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	s, err := stream.Create(filepath.Join(dir, "fills"), stream.Options{Schema: shapes.FillSchema(), Capacity: 4})
	if err != nil {
		log.Fatal(err)
	}
	typed, err := stream.Bind[shapes.Fill](s)
	if err != nil {
		log.Fatal(err)
	}
	start := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC).UnixNano()
	var recs []shapes.Fill
	for i, x := range []struct {
		px, qty      int32
		sym          uint16
		taker, maker uint32
		side         shapes.Side
	}{
		{6_412_350, 10, 3, 11, 12, shapes.Buy},
		{6_412_400, 5, 3, 12, 11, shapes.Buy},
		{201_025, 7, 5, 13, 11, shapes.Sell},
		{6_411_900, 8, 3, 11, 12, shapes.Sell},
		{200_990, 3, 5, 11, 13, shapes.Buy},
		{6_412_000, 4, 3, 13, 12, shapes.Buy},
	} {
		recs = append(recs, shapes.Fill{TS: start + int64(i)*20e9, Px: x.px, Qty: x.qty, Sym: x.sym, Taker: x.taker, Maker: x.maker, Side: x.side})
	}
	if _, _, err := typed.Append(recs); err != nil {
		log.Fatal(err)
	}
	if v, err = s.Snapshot(); err != nil {
		log.Fatal(err)
	}
	return v, func() {
		v.Close()
		s.Close()
		os.RemoveAll(dir)
	}
}

// orders is like fills, for the orders that one of them came from.
func orders() (v *stream.Snapshot, done func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	s, err := stream.Create(filepath.Join(dir, "orders"), stream.Options{Schema: shapes.OrderSchema()})
	if err != nil {
		log.Fatal(err)
	}
	typed, err := stream.Bind[shapes.Order](s)
	if err != nil {
		log.Fatal(err)
	}
	at := time.Date(2026, 11, 30, 9, 59, 59, 0, time.UTC).UnixNano()
	if _, _, err := typed.Append([]shapes.Order{{TS: at, Px: 6_411_900, Qty: 30, Order: 12, Sym: 3, Kind: shapes.Limit, Side: shapes.Sell}}); err != nil {
		log.Fatal(err)
	}
	if v, err = s.Snapshot(); err != nil {
		log.Fatal(err)
	}
	return v, func() {
		v.Close()
		s.Close()
		os.RemoveAll(dir)
	}
}

// The volume and the volume-weighted average price of each instrument.
func ExampleQuery_Run() {
	v, done := fills()
	defer done()
	res, err := query.From(v).By("sym").
		Run(context.Background(), query.Count(), query.Sum("qty"), query.VWAP("px", "qty"))
	if err != nil {
		log.Fatal(err)
	}
	for i := range res.Len() {
		fmt.Println(res.At(i, 0), res.At(i, 1), res.At(i, 2), res.At(i, 3))
	}
	// Output:
	// 3 4 27 64121.740741
	// 5 2 10 2010.145000
}

// A condition and aggregates in text, as on ledgerctl's command line.
func ExampleParseWhere() {
	v, done := fills()
	defer done()
	where, err := query.ParseWhere(v.Schema(), "sym == 3 && px >= 64120.00")
	if err != nil {
		log.Fatal(err)
	}
	aggs, err := query.ParseSelect(v.Schema(), "count(), sum(qty) as volume, max(px)")
	if err != nil {
		log.Fatal(err)
	}
	res, err := query.From(v).Where(where).Run(context.Background(), aggs...)
	if err != nil {
		log.Fatal(err)
	}
	for c, col := range res.Columns {
		fmt.Println(col.Name, res.At(0, c))
	}
	_, err = query.ParseWhere(v.Schema(), "sym == 3 && px >= 64120.005")
	fmt.Println(err)
	// Output:
	// count 3
	// volume 19
	// max(px) 64124.00
	// query: column 19 of "sym == 3 && px >= 64120.005": "64120.005": px has 2 decimals
}

// One-minute candles of one instrument.
func ExampleQuery_Candles() {
	v, done := fills()
	defer done()
	candles, err := query.From(v).Where(query.Eq("sym", 3)).Every(time.Minute).
		Candles(context.Background(), query.CandleOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range candles {
		at := time.Unix(0, c.Start).UTC().Format("15:04")
		fmt.Println(at, c.Open, c.High, c.Low, c.Close, c.Volume, c.VWAP, c.Count)
	}
	// Output:
	// 10:00 64123.50 64124.00 64123.50 64124.00 15 64123.666667 2
	// 10:01 64119.00 64120.00 64119.00 64120.00 12 64119.333333 2
}

// The position and the realised P&L of each account, first in first out. Fills
// of this stream name accounts where others name orders.
func ExampleQuery_Positions() {
	v, done := fills()
	defer done()
	positions, err := query.From(v).Where(query.Eq("sym", 3)).
		Positions(context.Background(), query.PositionOptions{Taker: "taker", Maker: "maker"})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range positions {
		fmt.Println(p.Account, p.Quantity, p.Cost, p.Realised)
	}
	// Output:
	// 11 -3 -192357.00 -20.00
	// 12 -1 -64120.00 23.00
	// 13 4 256480.00 0.00
}

// The volume of buying and selling takers in steps of 5.00.
func ExampleQuery_VolumeAtPrice() {
	v, done := fills()
	defer done()
	levels, err := query.From(v).Where(query.Eq("sym", 3)).
		VolumeAtPrice(context.Background(), query.LevelOptions{Side: "side", Tick: 500})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range levels {
		fmt.Println(l.Price, l.Volume, l.Buy, l.Sell, l.Count)
	}
	// Output:
	// 64115.00 8 0 8 1
	// 64120.00 19 19 0 3
}

// All that happened to order 12: what was asked of it, from one journal, and its
// fills, from the other. Taker and maker of the fills are the orders here.
func ExampleLifecycle() {
	f, done := fills()
	defer done()
	o, doneOrders := orders()
	defer doneOrders()
	events, err := query.Lifecycle(context.Background(), o, f, 12, query.LifecycleOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range events {
		what := "order"
		if e.Fill {
			what = "fill"
		}
		fmt.Println(time.Unix(0, e.Time).UTC().Format("15:04:05"), what, e.Price, e.Quantity, e.Filled)
	}
	// Output:
	// 09:59:59 order 64119.00 30 0
	// 10:00:00 fill 64123.50 10 10
	// 10:00:20 fill 64124.00 5 15
	// 10:01:00 fill 64119.00 8 23
	// 10:01:40 fill 64120.00 4 27
}

// The last two records of an instrument, latest first.
func ExampleQuery_Rows() {
	v, done := fills()
	defer done()
	q := query.From(v).Where(query.Eq("sym", 5)).Reverse().Limit(2)
	for rows, err := range q.Rows(context.Background(), "px", "qty") {
		if err != nil {
			log.Fatal(err)
		}
		for i := range rows.Len() {
			fmt.Println(rows.Seq(i), rows.At(i, 0), rows.At(i, 1))
		}
	}
	// Output:
	// 4 2009.90 3
	// 2 2010.25 7
}

// Records that a program has already, held against a condition.
func ExampleFilter() {
	v, done := fills()
	defer done()
	f, err := query.NewFilter(v.Schema(), query.In("taker", 12, 13))
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range v.Range(v.First(), v.End()) {
		if err != nil {
			log.Fatal(err)
		}
		hits, err := f.Select(nil, b.Segment())
		if err != nil {
			log.Fatal(err)
		}
		for _, i := range hits {
			fmt.Println(b.First() + stream.Seq(i))
		}
	}
	// Output:
	// 1
	// 2
	// 5
}
