package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/query"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

type queryFlags struct {
	groupFlags
	aggs string
	top  flagValue[int]
}

func newQuery(a *app) *cobra.Command {
	f := &queryFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "query DIR --select AGGREGATES [flags]",
		Short: "Count, add up and average records",
		Long: `Make aggregates of a stream's records: one row of all, or one for each group of
--by and each interval of --every that has records, in order.

  count()                             records
  sum(qty) min(px) max(px) avg(px)    of a field
  first(px) last(px)                  of the record with the lowest, highest seq
  vwap(px,qty)                        average price, weighted with the quantity
  notional(px,qty)                    sum of the products

"as" names a column: 'sum(qty) as volume'. Results are exact; averages are
rounded once, when they are printed, to four decimals more than their field has.
What nothing can be said of, such as the smallest of no records, is empty, null
in JSON.

` + symbolHelp + ` first, last, min
and max of a field that holds texts are texts, min and max by their numbers.
With --raw-values numbers are printed as they are stored.

` + whereHelp + `

It works beside a live writer, and takes no lock. Segments that a range or a
condition rules out are not read. Where records are gone, by retention or as a
known loss, it says so and leaves them out.`,
		Example: `  ledgerctl query data/fills --select 'count(), sum(qty), vwap(px,qty)' --by sym
  ledgerctl query data/fills --select 'sum(qty) as volume' --by sym --top 10
  ledgerctl query data/fills -s 'min(px), max(px)' --every 1h --since 2026-10-12
  ledgerctl query data/fills -s 'avg(px)' --where 'sym == 3 && side == 0'`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error {
		if f.top.set() && len(f.by) == 0 && !f.every.set() {
			return usagef("--top of a single row: say --by or --every")
		}
		return a.withSnapshot(args[0], func(snap *stream.Snapshot) error { return a.query(ctx, snap, f) })
	})
	f.top = flagValue[int]{name: "n", parse: parseTop}
	cmd.Flags().StringVarP(&f.aggs, "select", "s", "count()", "these `aggregates`, with commas between them")
	completeWith(cmd, "select", completeWords("count()", "sum(", "min(", "max(", "first(", "last(", "avg(", "vwap(", "notional("))
	cmd.Flags().Var(&f.top, "top", "only the `n` rows whose first aggregate is largest, largest first")
	completeWith(cmd, "top", cobra.NoFileCompletions)
	f.groupFlags.add(cmd)
	return cmd
}

func parseTop(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 1 {
		return 0, errors.New("want a whole number from 1")
	}
	return int(n), nil
}

func (a *app) query(ctx context.Context, snap *stream.Snapshot, f *queryFlags) error {
	aggs, err := query.ParseSelect(snap.Schema(), f.aggs)
	if err != nil {
		return inFlag("--select", err)
	}
	keys, err := f.keys(snap)
	if err != nil {
		return err
	}
	names := f.names(keys)
	for _, agg := range aggs {
		names = append(names, agg.String())
	}
	if err := distinct(names); err != nil {
		return err
	}
	var res *query.Result
	holds, err := a.grouped(snap, &f.groupFlags, keys, func(q *query.Query) error {
		var err error
		res, err = q.Top(f.top.v, 0).Run(ctx, aggs...)
		return err
	})
	if err != nil {
		return err
	}
	columns, err := resultColumns(snap.Schema(), keys, aggs, res)
	if err != nil {
		return err
	}
	p, err := a.newValuePrinter(&f.listFlags, snap.Schema().Unit(), columns)
	if err != nil {
		return err
	}
	p.symbols(keys, holds)
	return p.printResult(res, res.Keys-len(keys))
}

// resultColumns are the columns of a result, which has those of keys in front of
// the aggregates.
func resultColumns(s *schema.Schema, keys []recordColumn, aggs []query.Agg, res *query.Result) ([]valueColumn, error) {
	columns := make([]valueColumn, len(res.Columns))
	for i, c := range res.Columns {
		columns[i].Column = c
	}
	for i, k := range keys {
		columns[res.Keys-len(keys)+i].fields = []recordColumn{k}
	}
	for i, agg := range aggs {
		c := &columns[res.Keys+i]
		switch fn, fields, _ := strings.Cut(strings.TrimSuffix(agg.As("").String(), ")"), "("); fn {
		case "count":
			c.count = true
		case "avg", "vwap":
		default:
			var err error
			if c.fields, err = chooseColumns(s, strings.Split(fields, ","), false); err != nil {
				return nil, err
			}
		}
	}
	return columns, nil
}

// printResult prints a result whose keys begin with that column.
func (p *valuePrinter) printResult(res *query.Result, keys int) error {
	for i := range res.Len() {
		p.begin(func(key int) query.Value { return res.At(i, keys+key) })
		for c := range p.columns {
			p.cell(res.At(i, c))
		}
		if err := p.end(); err != nil {
			return err
		}
	}
	return p.w.Close()
}
