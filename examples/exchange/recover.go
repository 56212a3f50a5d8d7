package main

import (
	"fmt"
	"io"

	"example.com/ledger/shapes"
)

// A recovery says what a run found of the runs before it.
type recovery struct {
	orders       uint64 // in the journal
	acknowledged uint64 // of these, acknowledged, and found as they were acknowledged
	fills        uint64 // in the journal
	remade       uint64 // fills that were missing, made again
}

// A match names a fill: a taker meets a maker at most once.
type match struct{ taker, maker uint32 }

// A traded is what a fill says beyond its match.
type traded struct {
	seq     uint64
	px, qty int32
}

// recover goes through the journal of orders from its first one and matches them
// all again. On the way it compares
//
//   - each order with the acknowledgement that its client has,
//   - each order with the source, which stands behind the last one afterwards,
//   - the fills that they make with those in the journal.
//
// Missing fills are appended. That is as it should be: orders are durable before
// they are matched, so a kill leaves the fills a little behind, and a power loss
// more than a little. Fills that no order makes are an error.
func (x *exchange) recover() error {
	known, err := x.knownFills()
	if err != nil {
		return err
	}
	x.found.fills = uint64(len(known))
	var fresh []shapes.Order // in the journal, but not acknowledged yet
	err = read(x.orders, false, func(o *shapes.Order) error {
		acked, err := x.acks.confirm(o)
		if err != nil {
			return err
		}
		if err := x.compareSource(o); err != nil {
			return err
		}
		x.found.orders++
		if acked {
			x.found.acknowledged++
		} else {
			fresh = append(fresh, *o)
		}
		return x.rematch(o, known)
	})
	if err != nil {
		return err
	}
	if x.acks.before > x.found.orders {
		return fmt.Errorf("%w: %d orders were acknowledged, and the journal has %d", errDamage, x.acks.before, x.found.orders)
	}
	for m, f := range known { // what no order has claimed
		return fmt.Errorf("%w: fill %d: no order makes it: taker %d, maker %d (%d such fills)", errDamage, f.seq, m.taker, m.maker, len(known))
	}
	if err := x.journalFills(); err != nil {
		return err
	}
	return x.acknowledge(fresh)
}

// knownFills reads the journal of fills.
func (x *exchange) knownFills() (map[match]traded, error) {
	known := make(map[match]traded)
	err := read(x.fills, true, func(f *shapes.Fill) error {
		m := match{f.Taker, f.Maker}
		if _, ok := known[m]; ok {
			return fmt.Errorf("%w: fill %d: taker %d and maker %d have met before", errDamage, f.Seq, f.Taker, f.Maker)
		}
		known[m] = traded{f.Seq, f.Px, f.Qty}
		return nil
	})
	return known, err
}

// compareSource checks that the journal is one of this source.
func (x *exchange) compareSource(o *shapes.Order) error {
	var want shapes.Order
	err := x.source.Next(&want)
	if err == io.EOF {
		return fmt.Errorf("the journal goes on at order %d, where the input ends: give --orders as before, or more", o.Seq)
	}
	if err != nil {
		return err
	}
	if want.Seq = o.Seq; want != *o {
		return fmt.Errorf("order %d in the journal is not that of the input: this directory belongs to another input or seed", o.Seq)
	}
	return nil
}

// rematch matches an order of the journal again. Of its fills it keeps those in
// x.made that the journal of fills doesn't know.
func (x *exchange) rematch(o *shapes.Order, known map[match]traded) error {
	kept := len(x.made)
	x.apply(o)
	for _, f := range x.made[kept:] {
		m := match{f.Taker, f.Maker}
		have, ok := known[m]
		if !ok {
			x.made[kept] = f
			kept++
			x.found.remade++
			continue
		}
		if have.px != f.Px || have.qty != f.Qty {
			return fmt.Errorf("%w: fill %d: the journal has %d at price %d, and its orders make %d at %d", errDamage, have.seq, have.qty, have.px, f.Qty, f.Px)
		}
		delete(known, m)
	}
	x.made = x.made[:kept]
	return nil
}
