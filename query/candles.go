package query

import (
	"context"
	"fmt"
	"slices"
)

// Empty says what Candles does with an interval without records that lies
// between a group's first candle and the end of the last interval of all.
type Empty uint8

const (
	// SkipEmpty leaves it out.
	SkipEmpty Empty = iota
	// NullEmpty gives a candle with null prices and no volume.
	NullEmpty
	// CarryEmpty gives a candle at the close before it, with no volume: its VWAP is null.
	CarryEmpty
)

// CandleOptions configures Candles. The zero value takes px and qty, and leaves
// empty intervals out.
type CandleOptions struct {
	Price    string // "" is "px"
	Quantity string // "" is "qty"
	Empty    Empty
}

// A Candle is what happened to a price in one interval.
type Candle struct {
	Start  int64   // of the interval, in the stream's unit
	Keys   []Value // of the fields that the query groups by
	Open   Value   // of the record with the lowest number
	High   Value
	Low    Value
	Close  Value // of the record with the highest number
	Volume Value
	VWAP   Value // null if the volume is 0
	Count  int64
}

// Candles returns a candle for each interval, and each group of By, by interval
// and key. The query must have intervals: see Every.
func (q *Query) Candles(ctx context.Context, o CandleOptions) ([]Candle, error) {
	if q.every == 0 {
		return nil, fmt.Errorf("%w: candles want intervals: say Every", ErrInvalid)
	}
	px, qty := defaultTo(o.Price, "px"), defaultTo(o.Quantity, "qty")
	r, err := q.Run(ctx, First(px), Max(px), Min(px), Last(px), Sum(qty), VWAP(px, qty), Count())
	if err != nil {
		return nil, err
	}
	out := make([]Candle, r.Len())
	for i := range out {
		c := &out[i]
		c.Start, _ = r.At(i, 0).Int64()
		for k := 1; k < r.Keys; k++ {
			c.Keys = append(c.Keys, r.At(i, k))
		}
		for k, v := range []*Value{&c.Open, &c.High, &c.Low, &c.Close, &c.Volume, &c.VWAP} {
			*v = r.At(i, r.Keys+k)
		}
		c.Count, _ = r.At(i, r.Keys+6).Int64()
	}
	if o.Empty == SkipEmpty || len(out) == 0 || q.top > 0 {
		return out, nil
	}
	return q.fill(out, r, o.Empty)
}

func defaultTo(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// fill puts candles where there are none.
func (q *Query) fill(in []Candle, r *Result, how Empty) ([]Candle, error) {
	number := func(i int) int64 { return int64(r.g.key(r.rows[i])[0]) }
	first, last := number(0), number(len(in)-1)
	var open []Candle // the latest of each group that has begun, by key
	var out []Candle
	at := 0
	for n := first; ; n++ {
		start, _ := intervalBounds(n, r.p.every)
		for at < len(in) && number(at) == n {
			c := in[at]
			k, found := slices.BinarySearchFunc(open, c, func(a, b Candle) int {
				return slices.CompareFunc(a.Keys, b.Keys, Value.Cmp)
			})
			if !found {
				open = slices.Insert(open, k, c)
			}
			open[k] = c
			at++
		}
		if len(out)+len(open) > q.groups {
			return nil, fmt.Errorf("%w: more than %d candles with the empty ones", ErrTooMany, q.groups)
		}
		for i := range open {
			if open[i].Start != start {
				open[i] = open[i].empty(start, how)
			}
		}
		out = append(out, open...)
		if n == last {
			return out, nil
		}
	}
}

// empty returns the candle of an interval without records behind c.
func (c Candle) empty(start int64, how Empty) Candle {
	e := Candle{Start: start, Keys: c.Keys, Close: c.Close}
	e.Volume = intValue(wide{}, c.Volume.scale)
	e.VWAP = Value{scale: c.VWAP.scale, digits: c.VWAP.digits}
	if how == CarryEmpty {
		e.Open, e.High, e.Low = c.Close, c.Close, c.Close
		return e
	}
	null := Value{scale: c.Close.scale, digits: c.Close.digits}
	e.Open, e.High, e.Low, e.Close = null, null, null, null
	return e
}
