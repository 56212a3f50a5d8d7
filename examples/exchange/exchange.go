package main

import (
	"errors"
	"path/filepath"
	"time"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/examples/exchange/flow"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
	"github.com/HdrHistogram/hdrhistogram-go"
)

// An exchange is one trading day in one directory:
//
//	orders/   the journal of orders, Commit
//	fills/    the journal of fills, Sealed
//	acks      what was acknowledged to the clients: the witness in this example
//
// All its methods are called by one goroutine, which matches and never waits for
// the disk while there is something to do.
type exchange struct {
	*journals
	source    flow.Source
	batchSize int
	kill      *killer

	acks   *ackLog
	engine book.Engine
	typed  typedStreams
	made   []shapes.Fill // by the batch that is being matched

	outcomes [book.Outcomes]int // what became of the orders, by earlier runs too
	found    recovery
	speed    speed
}

// typedStreams take structs instead of bytes.
type typedStreams struct {
	orders stream.Typed[shapes.Order]
	fills  stream.Typed[shapes.Fill]
}

// speed is what a run measured of itself.
type speed struct {
	orders  int
	took    time.Duration
	appends uint64                  // batches appended to the two journals
	waits   uint64                  // of these, how many waited because two segments were being sealed
	latency *hdrhistogram.Histogram // ns from handing an order to the journal to its acknowledgement
}

// latencyMax is the longest latency that is told apart; what takes longer counts
// as this.
const latencyMax = time.Minute

// openExchange opens or begins the day in dir, whose orders come from source.
func openExchange(dir string, source flow.Source, scale uint8, batchSize int) (_ *exchange, err error) {
	j, err := openJournals(dir, scale)
	if err != nil {
		return nil, err
	}
	x := &exchange{journals: j, source: source, batchSize: batchSize}
	x.speed.latency = hdrhistogram.New(int64(time.Microsecond), int64(latencyMax), 3)
	defer func() {
		if err != nil {
			err = errors.Join(err, x.close())
		}
	}()
	if x.typed.orders, err = stream.Bind[shapes.Order](j.orders); err != nil {
		return nil, err
	}
	if x.typed.fills, err = stream.Bind[shapes.Fill](j.fills); err != nil {
		return nil, err
	}
	if x.acks, err = openAcks(filepath.Join(dir, "acks")); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *exchange) close() error {
	err := x.journals.close()
	if x.acks != nil {
		err = errors.Join(err, x.acks.close())
	}
	return err
}

// apply matches one order and collects its fills in x.made.
func (x *exchange) apply(o *shapes.Order) {
	var out book.Outcome
	x.made, out = x.engine.Apply(o, x.made)
	x.outcomes[out]++
}
