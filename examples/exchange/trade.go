package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// window is how many batches may be in the journal and not yet acknowledged.
const window = 8

// A batch is orders that are journaled together.
type batch struct {
	orders []shapes.Order
	end    stream.Seq // behind its last order
	sent   time.Time  // when it was handed to the journal
}

// trade takes orders from the source until it ends or ctx does. It journals a
// batch while the disk syncs the ones before, matches the orders that the durable
// cursor has passed, and then acknowledges them:
//
//	        journal ──▶ in flight ──▶ durable? ──▶ match ──▶ acknowledge
//	batch      k+1          k           k−1
//
// Only with nothing to journal and nothing to match does it wait. When ctx ends
// it settles what is in flight.
func (x *exchange) trade(ctx context.Context) error {
	var free, flying []*batch
	for range window {
		free = append(free, &batch{orders: make([]shapes.Order, 0, x.batchSize)})
	}
	started := time.Now()
	for more := true; more || len(flying) > 0; {
		more = more && ctx.Err() == nil
		journaled := more && len(free) > 0
		if journaled {
			b := free[len(free)-1]
			var err error
			if more, err = x.journal(b); err != nil {
				return err
			}
			if len(b.orders) > 0 {
				free, flying = free[:len(free)-1], append(flying, b)
			}
		}
		switch {
		case len(flying) == 0:
		case flying[0].end <= x.orders.Cursors().Durable:
			if err := x.settle(flying[0]); err != nil {
				return err
			}
			free, flying = append(free, flying[0]), flying[1:]
		case !journaled: // nothing to journal, nothing to match
			if err := x.orders.WaitDurable(context.WithoutCancel(ctx), flying[0].end); err != nil {
				return err
			}
		}
	}
	return x.measure(started)
}

// measure notes how long trading took, and how often it had to wait for room.
func (x *exchange) measure(started time.Time) error {
	x.speed.took = time.Since(started)
	for _, s := range []*stream.Stream{x.orders, x.fills} {
		st, err := s.Stats()
		if err != nil {
			return err
		}
		x.speed.appends += st.Appends
		x.speed.waits += st.Waits
	}
	return nil
}

// journal fills the batch from the source and appends it to the orders' journal.
// It is false when the source has ended.
func (x *exchange) journal(b *batch) (bool, error) {
	b.orders = b.orders[:0]
	var err error
	for len(b.orders) < x.batchSize && err == nil {
		var o shapes.Order
		if err = x.source.Next(&o); err == nil {
			b.orders = append(b.orders, o)
		}
	}
	if err != nil && err != io.EOF {
		return false, err
	}
	if next := x.orders.Cursors().Appended; next+stream.Seq(len(b.orders)) > book.SeqMax+1 {
		return false, fmt.Errorf("order %d: fills name no orders above %d: begin a new day", next, uint64(book.SeqMax))
	}
	if len(b.orders) > 0 {
		b.sent = time.Now()
		first, n, err := x.typed.orders.AppendAsync(b.orders) // which numbers them, too
		if err != nil {
			return false, err
		}
		b.end = first + stream.Seq(n)
	}
	return err == nil, nil
}

// settle matches the orders of a durable batch, journals their fills, and
// acknowledges the orders.
func (x *exchange) settle(b *batch) error {
	for i := range b.orders {
		x.apply(&b.orders[i])
	}
	if err := x.journalFills(); err != nil {
		return err
	}
	if err := x.acknowledge(b.orders); err != nil {
		return err
	}
	x.speed.orders += len(b.orders)
	waited := min(time.Since(b.sent), latencyMax)
	return x.speed.latency.RecordValues(int64(waited), int64(len(b.orders)))
}

// journalFills appends the fills made since the last call. A Sealed append
// doesn't wait for the disk.
func (x *exchange) journalFills() error {
	for made := x.made; len(made) > 0; {
		n := min(len(made), fillsCapacity)
		if _, _, err := x.typed.fills.Append(made[:n]); err != nil {
			return err
		}
		made = made[n:]
	}
	x.made = x.made[:0]
	return nil
}

// acknowledge tells the clients: here, a file. The killer may strike in between.
func (x *exchange) acknowledge(orders []shapes.Order) error {
	now, strike := x.kill.spare(len(orders))
	if err := x.acks.append(orders[:now]); err != nil {
		return err
	}
	if strike {
		return x.kill.strike()
	}
	return nil
}
