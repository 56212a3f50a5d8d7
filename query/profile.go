package query

import (
	"context"
	"fmt"
	"slices"

	"example.com/ledger/schema"
)

// LevelOptions configures VolumeAtPrice. The zero value takes px and qty, every
// price for itself, and doesn't tell sides apart.
type LevelOptions struct {
	Price    string // "" is "px"
	Quantity string // "" is "qty"
	// Side is the field with the taker's side, 0 for buy and 1 for sell, such as
	// "side"; "" doesn't tell them apart.
	Side string
	// Tick joins prices into steps of that many of the field's own units, each
	// named by its lowest price; 0 and 1 join none.
	Tick int64
}

// A Level is what traded at one price, or in one step of prices.
type Level struct {
	Keys   []Value // of the fields that the query groups by
	Price  Value   // the lowest of the step
	Volume Value
	Buy    Value // volume of buying takers; null without a side
	Sell   Value // volume of selling takers; null without a side
	Count  int64
}

// VolumeAtPrice returns the volume at each price that traded, by key and price.
func (q *Query) VolumeAtPrice(ctx context.Context, o LevelOptions) ([]Level, error) {
	px, qty := defaultTo(o.Price, "px"), defaultTo(o.Quantity, "qty")
	if o.Tick < 0 {
		return nil, fmt.Errorf("%w: steps of %d", ErrInvalid, o.Tick)
	}
	if q.every > 0 || q.top > 0 {
		return nil, fmt.Errorf("%w: volume at price has neither intervals nor a top", ErrInvalid)
	}
	c, err := lookup(q.s, px, 0)
	if err != nil {
		return nil, err
	}
	by := append(slices.Clip(slices.Clone(q.by)), px)
	if o.Side != "" {
		by = append(by, o.Side)
	}
	sub := *q
	sub.by = by
	r, err := sub.Run(ctx, Sum(qty), Count())
	if err != nil {
		return nil, err
	}
	var out []Level
	for i := range r.Len() {
		keys := make([]Value, len(q.by))
		for k := range keys {
			keys[k] = r.At(i, k)
		}
		price := stepOf(r.At(i, len(q.by)), max(1, o.Tick), c)
		volume := r.At(i, r.Keys)
		n := len(out)
		if n == 0 || out[n-1].Price.Cmp(price) != 0 || slices.CompareFunc(out[n-1].Keys, keys, Value.Cmp) != 0 {
			zero := intValue(wide{}, volume.scale)
			l := Level{Keys: keys, Price: price, Volume: zero}
			if o.Side != "" {
				l.Buy, l.Sell = zero, zero
			}
			out = append(out, l)
			n++
		}
		l := &out[n-1]
		l.Volume.num.add(volume.num)
		count, _ := r.At(i, r.Keys+1).Int64()
		l.Count += count
		if o.Side != "" {
			switch side, _ := r.At(i, len(q.by)+1).Int64(); side {
			case 0:
				l.Buy.num.add(volume.num)
			case 1:
				l.Sell.num.add(volume.num)
			}
		}
	}
	return out, nil
}

// stepOf returns the lowest price of the step that v lies in.
func stepOf(v Value, tick int64, c column) Value {
	if tick == 1 {
		return v
	}
	if c.kind == schema.U64 {
		u, _ := v.Uint64()
		v.num = wide{u - u%uint64(tick)}
		return v
	}
	x, _ := v.Int64()
	// Below the lowest int64 only by less than a tick: 192 bits hold it.
	v.num = wideInt(x)
	rest := x % tick
	if rest < 0 {
		rest += tick
	}
	v.num.addInt(-rest)
	return v
}
