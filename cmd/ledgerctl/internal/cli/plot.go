package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ledger/cmd/ledgerctl/internal/chart"
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/query"
)

// Of a chart: lines for prices, and cells where nothing tells the width.
const (
	plotHeight = 16
	plotWidth  = 80
)

// plotCandles draws a chart for each group, in the order of the groups' keys.
func (a *app) plotCandles(p *valuePrinter, f *candlesFlags, list []query.Candle) error {
	byKeys := func(x, y query.Candle) int { return slices.CompareFunc(x.Keys, y.Keys, query.Value.Cmp) }
	slices.SortStableFunc(list, byKeys)
	if len(list) == 0 {
		a.note("ledgerctl: no records, so there is nothing to draw")
	}
	for begin := 0; begin < len(list); {
		end := begin + 1
		for end < len(list) && byKeys(list[begin], list[end]) == 0 {
			end++
		}
		if begin > 0 {
			if _, err := a.out.Write([]byte("\n")); err != nil {
				return err
			}
		}
		if err := a.plotGroup(p, f, list[begin:end]); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// plotGroup draws the candles of one group.
func (a *app) plotGroup(p *valuePrinter, f *candlesFlags, list []query.Candle) error {
	o := chart.Options{Width: a.width, Height: plotHeight, Color: a.color(a.outTerminal)}
	if o.Width == 0 {
		o.Width = plotWidth
	}
	p.begin(func(key int) query.Value { return list[0].Keys[key] })
	scale := list[0].Close.Scale()
	unit := 1.0 // of what is drawn, to the field's value
	if o.Digits = int(p.decimals(p.columns[1+len(list[0].Keys)], scale)); p.raw {
		o.Digits, unit = 0, math.Pow10(int(scale))
	}
	candles := make([]chart.Candle, len(list))
	for i, c := range list {
		candles[i] = chart.Candle{
			Time: p.shortTime(c.Start),
			Open: c.Open.Float64() * unit, High: c.High.Float64() * unit,
			Low: c.Low.Float64() * unit, Close: c.Close.Float64() * unit,
			Volume: c.Volume.Float64(),
		}
	}
	title := []string{fmt.Sprintf("%s every %s", f.price, value.FormatDuration(f.every.v))}
	for i, k := range list[0].Keys {
		column := p.columns[1+i]
		title = append(title, column.Name+" "+listing.Printable(string(p.append(nil, column, k))))
	}
	o.Title = strings.Join(title, ", ")
	return chart.Write(a.out, candles, o)
}

// shortTime is a time without zeros behind its seconds.
func (p *valuePrinter) shortTime(ts int64) string {
	p.row.Reset()
	p.time(ts)
	text := string(p.row.Cell(0))
	p.row.Reset()
	if head, _, ok := strings.Cut(text, "."); ok && strings.Trim(text[len(head)+1:], "0") == "Z" {
		return head + "Z"
	}
	return text
}
