package flow_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"testing"
	"time"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/examples/exchange/flow"
	"example.com/ledger/shapes"
)

var open = time.Date(2026, 1, 5, 14, 30, 0, 0, time.UTC)

// drain returns all records of a source, numbered.
func drain(t *testing.T, s flow.Source) []shapes.Order {
	t.Helper()
	var all []shapes.Order
	for {
		var o shapes.Order
		err := s.Next(&o)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		o.Seq = uint64(len(all))
		all = append(all, o)
	}
}

// TestGeneratorPinned: a seed makes the same flow for ever, on every machine;
// else a journal could not be gone on with after an update. A new flow needs a
// new flag beside the old one.
func TestGeneratorPinned(t *testing.T) {
	for _, tc := range []struct {
		symbols int
		seed    uint64
		want    string
	}{
		{1, 1, "96a48e2a"}, {8, 1, "5f8b6d51"}, {8, 2, "480f22dc"},
	} {
		h := crc32.NewIEEE()
		for _, o := range drain(t, flow.NewGenerator(5000, tc.symbols, tc.seed, open)) {
			if err := binary.Write(h, binary.LittleEndian, o); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprintf("%08x", h.Sum32()); got != tc.want {
			t.Errorf("symbols=%d seed=%d: 5,000 records with CRC %s, want %s", tc.symbols, tc.seed, got, tc.want)
		}
	}
}

// TestGeneratorIsAPrefix: asking for more changes nothing that comes before.
func TestGeneratorIsAPrefix(t *testing.T) {
	short := drain(t, flow.NewGenerator(1000, 3, 7, open))
	long := drain(t, flow.NewGenerator(3000, 3, 7, open))
	if len(short) != 1000 || len(long) != 3000 {
		t.Fatalf("%d and %d records, want 1000 and 3000", len(short), len(long))
	}
	for i := range short {
		if short[i] != long[i] {
			t.Fatalf("record %d: %+v and %+v", i, short[i], long[i])
		}
	}
}

// TestGeneratorLooksReal: the flow has what the exchange has to cope with, in
// proportions that a market could have.
func TestGeneratorLooksReal(t *testing.T) {
	const n, symbols = 50_000, 8
	var engine book.Engine
	var fills []shapes.Fill
	kinds, outcomes, perSymbol := map[shapes.Kind]int{}, map[book.Outcome]int{}, map[uint16]int{}
	last := int64(0)
	for _, o := range drain(t, flow.NewGenerator(n, symbols, 1, open)) {
		if o.TS < last || o.Px < 0 || o.Qty < 1 && o.Kind != shapes.Cancel || o.Account == 0 || o.Client == 0 {
			t.Fatalf("record %+v after time %d", o, last)
		}
		last = o.TS
		kinds[o.Kind]++
		perSymbol[o.Sym]++
		var out book.Outcome
		fills, out = engine.Apply(&o, fills)
		outcomes[out]++
	}
	within := func(what string, got, low, high int) {
		t.Helper()
		if got < low || got > high {
			t.Errorf("%s: %d, want %d to %d", what, got, low, high)
		}
	}
	within("limit orders", kinds[shapes.Limit], n*40/100, n*60/100)
	within("cancels", kinds[shapes.Cancel], n*30/100, n*45/100)
	within("immediate orders", kinds[shapes.IOC], n*2/100, n*15/100)
	within("reductions", kinds[shapes.Reduce], n/100, n*5/100)
	within("prints", kinds[shapes.Print], n/100, n*5/100)
	within("fills", len(fills), n*5/100, n*30/100)
	within("cancels that come too late", outcomes[book.Gone], 1, n*3/100)
	within("unknown ids", outcomes[book.UnknownID], 1, n/100)
	within("duplicates and invalid", outcomes[book.Duplicate]+outcomes[book.Invalid], 0, 0)
	within("the busiest symbol", perSymbol[0], n*25/100, n*50/100)
	within("the quietest symbol", perSymbol[symbols-1], n/100, n*10/100)
	for sym := range uint16(symbols) {
		b := engine.Book(sym)
		bid, bidOK := b.Best(shapes.Buy)
		ask, askOK := b.Best(shapes.Sell)
		if !bidOK || !askOK || bid >= ask || ask-bid > ask/20 {
			t.Errorf("symbol %d: best bid %d %v, best ask %d %v", sym, bid, bidOK, ask, askOK)
		}
	}
	resting := 0
	for range engine.All() {
		resting++
	}
	within("resting orders", resting, symbols*50, n/10)
}
