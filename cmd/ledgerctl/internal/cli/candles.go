package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"example.com/ledger/query"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

type candlesFlags struct {
	groupFlags
	price, quantity string
	empty           flagValue[query.Empty]
	plot            bool
}

func newCandles(a *app) *cobra.Command {
	f := &candlesFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "candles DIR --every DURATION [flags]",
		Short: "Print the prices of each interval, or draw them",
		Long: `Print a candle for each interval of time, and each group of --by: the first
price, the highest, the lowest and the last by sequence number, the sum of the
quantities, their weighted average price and the number of records.

Intervals without records are left out. With --empty null they have no prices,
and with --empty carry the last price before, from a group's first candle on to
the last of all.

` + symbolHelp + `

--plot draws candles in place of a listing, a chart for each group: the body
from open to close, the wick from low to high, the volume below.

` + whereHelp + `

It works beside a live writer, and takes no lock. Where records are gone, by
retention or as a known loss, it says so and leaves them out.`,
		Example: `  ledgerctl candles data/fills --every 1m --where sym==3
  ledgerctl candles data/fills --every 1h --by sym --since 2026-10-12
  ledgerctl candles data/fills --every 5m --where sym==3 --empty carry --plot
  ledgerctl candles data/trades --every 1d --price price --quantity size`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error {
		switch {
		case !f.every.set():
			return usagef("how long is a candle? --every is missing, as in --every 1m")
		case f.plot && f.format.set():
			return usagef("a chart is no listing: leave out --format or --plot")
		}
		return a.withSnapshot(args[0], func(snap *stream.Snapshot) error { return a.candles(ctx, snap, f) })
	})
	f.empty = flagValue[query.Empty]{name: "how", parse: parseEmpty}
	cmd.Flags().StringVar(&f.price, "price", "px", "the `field` with the price")
	cmd.Flags().StringVar(&f.quantity, "quantity", "qty", "the `field` with the quantity")
	completeWith(cmd, "price", completeColumns)
	completeWith(cmd, "quantity", completeColumns)
	cmd.Flags().Var(&f.empty, "empty", "intervals without records: skip, null or carry (skip)")
	complete(cmd, "empty", emptyNames...)
	cmd.Flags().BoolVar(&f.plot, "plot", false, "draw a chart")
	f.groupFlags.add(cmd)
	return cmd
}

// filledMax bounds the candles of --empty null and carry, which a short --every
// could make any number of: some hundred bytes each.
const filledMax = 1 << 20

// emptyNames are what --empty takes, in the order of query's constants.
var emptyNames = []string{query.SkipEmpty: "skip", query.NullEmpty: "null", query.CarryEmpty: "carry"}

func parseEmpty(s string) (query.Empty, error) {
	if i := slices.Index(emptyNames, s); i >= 0 {
		return query.Empty(i), nil
	}
	return 0, fmt.Errorf("%.40q is none of skip, null, carry", s)
}

func (a *app) candles(ctx context.Context, snap *stream.Snapshot, f *candlesFlags) error {
	fields, err := chooseColumns(snap.Schema(), []string{f.price, f.quantity}, false)
	if err != nil {
		return usagef("%w; --price and --quantity name the fields", err)
	}
	keys, err := f.keys(snap)
	if err != nil {
		return err
	}
	columns := candleColumns(keys, fields[0], fields[1])
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	if err := distinct(names); err != nil {
		return err
	}
	var list []query.Candle
	holds, err := a.grouped(snap, &f.groupFlags, keys, func(q *query.Query) error {
		if f.empty.v != query.SkipEmpty {
			q.MaxGroups(filledMax)
		}
		var err error
		list, err = q.Candles(ctx, query.CandleOptions{Price: f.price, Quantity: f.quantity, Empty: f.empty.v})
		return err
	})
	if err != nil {
		return err
	}
	p, err := a.newValuePrinter(&f.listFlags, snap.Schema().Unit(), columns)
	if err != nil {
		return err
	}
	p.symbols(keys, holds)
	if f.plot {
		return a.plotCandles(p, f, list)
	}
	return p.printCandles(list)
}

// candleColumns are the columns of candles; those of keys stand behind the first.
func candleColumns(keys []recordColumn, price, quantity recordColumn) []valueColumn {
	columns := []valueColumn{{Column: query.Column{Name: "ts", Kind: schema.I64, Time: true}}}
	of := func(name string, c recordColumn) {
		q := query.Column{Name: name, Kind: c.field.Kind, Scale: c.field.Scale, Time: c.column == columnTime}
		columns = append(columns, valueColumn{Column: q, fields: []recordColumn{c}})
	}
	for _, k := range keys {
		of(k.field.Name, k)
	}
	for _, name := range []string{"open", "high", "low", "close"} {
		of(name, price)
	}
	return append(columns,
		valueColumn{Column: query.Column{Name: "volume", Scale: quantity.field.Scale}, fields: []recordColumn{quantity}},
		valueColumn{Column: query.Column{Name: "vwap"}},
		valueColumn{Column: query.Column{Name: "count"}, count: true})
}

func (p *valuePrinter) printCandles(list []query.Candle) error {
	for _, c := range list {
		p.begin(func(key int) query.Value { return c.Keys[key] })
		p.time(c.Start)
		for _, k := range c.Keys {
			p.cell(k)
		}
		for _, v := range []query.Value{c.Open, c.High, c.Low, c.Close, c.Volume, c.VWAP} {
			p.cell(v)
		}
		p.row.Int(c.Count)
		if err := p.end(); err != nil {
			return err
		}
	}
	return p.w.Close()
}
