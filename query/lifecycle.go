package query

import (
	"context"
	"fmt"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// LifecycleOptions configures Lifecycle. The zero value looks for order in the
// stream of orders, and for taker and maker in that of fills.
type LifecycleOptions struct {
	// OrderFields of a record in the stream of orders name the order: any of them.
	// "seq" among them is the record's own number. Empty is "order".
	OrderFields []string
	// FillFields of a fill name the orders that it matched. Empty is those of
	// taker, maker, taker_order and maker_order that there are.
	FillFields []string
	Price      string // in both; "" is "px"
	Quantity   string // in both; "" is "qty"
}

// An Event is one record in the life of an order.
type Event struct {
	Fill     bool // from the stream of fills, else from that of orders
	Seq      stream.Seq
	Time     int64 // in its stream's unit
	Price    Value
	Quantity Value
	Filled   Value // quantity of the fills up to here
	Record   []byte
}

// eventsMax bounds the events of one order.
const eventsMax = 1 << 20

// Lifecycle returns all that happened to one order: what was asked of it, from
// one journal, and its fills, from the other, by time. Each journal's records
// stay in the order of their numbers; at the same time a request comes before a
// fill. Streams with different units are ErrInvalid.
func Lifecycle(ctx context.Context, orders, fills *stream.Snapshot, order uint64, o LifecycleOptions) ([]Event, error) {
	if orders.Schema().Unit() != fills.Schema().Unit() {
		return nil, fmt.Errorf("%w: orders in %v, fills in %v", ErrInvalid, orders.Schema().Unit(), fills.Schema().Unit())
	}
	of, ff := o.OrderFields, o.FillFields
	if len(of) == 0 {
		of = []string{"order"}
	}
	if len(ff) == 0 {
		for _, name := range []string{"taker", "maker", "taker_order", "maker_order"} {
			if _, ok := fills.Schema().Index(name); ok {
				ff = append(ff, name)
			}
		}
	}
	asked, err := events(ctx, orders, order, of, o, false)
	if err != nil {
		return nil, fmt.Errorf("orders: %w", err)
	}
	done, err := events(ctx, fills, order, ff, o, true)
	if err != nil {
		return nil, fmt.Errorf("fills: %w", err)
	}
	var out []Event
	filled := intValue(wide{}, 0)
	if len(done) > 0 {
		filled.scale, filled.digits = done[0].Quantity.scale, done[0].Quantity.digits
	}
	for len(asked)+len(done) > 0 {
		from := &asked
		if len(asked) == 0 || len(done) > 0 && done[0].Time < asked[0].Time {
			from = &done
		}
		e := (*from)[0]
		*from = (*from)[1:]
		if e.Fill {
			filled.num.add(e.Quantity.num)
		}
		e.Filled = filled
		out = append(out, e)
	}
	return out, nil
}

// events returns the records of one stream that name the order.
func events(ctx context.Context, v *stream.Snapshot, order uint64, fields []string, o LifecycleOptions, fill bool) ([]Event, error) {
	var named []Pred
	for _, name := range fields {
		named = append(named, Eq(name, order))
	}
	var out []Event
	px, qty := defaultTo(o.Price, "px"), defaultTo(o.Quantity, "qty")
	for r, err := range From(v).Where(Or(named...)).Rows(ctx, "ts", px, qty) {
		if err != nil {
			return nil, err
		}
		for i := range r.Len() {
			if len(out) == eventsMax {
				return nil, fmt.Errorf("%w: more than %d records of order %d", ErrTooMany, eventsMax, order)
			}
			rec, err := r.Record(nil, i)
			if err != nil {
				return nil, err
			}
			out = append(out, Event{Fill: fill, Seq: r.Seq(i), Time: schema.Time(rec), Price: r.At(i, 1), Quantity: r.At(i, 2), Record: rec})
		}
	}
	return out, nil
}
