package query

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// ticks makes fills of (sym, second, price, quantity).
func ticks(t *testing.T, in [][4]int64) (*schema.Schema, []byte) {
	s := mustSchema(schema.New(schema.Millisecond,
		schema.Field{Name: "px", Kind: schema.I32, Scale: 1}, schema.Field{Name: "qty", Kind: schema.I32},
		schema.Field{Name: "sym", Kind: schema.U16}))
	recs := make([]byte, len(in)*s.Width())
	for i, x := range in {
		rec := recs[i*s.Width():]
		schema.PutSeq(rec, uint64(i))
		schema.PutTime(rec, x[1]*1000)
		for f, v := range []int64{x[2], x[3], x[0]} {
			if err := s.PutInt(rec, f, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s, recs
}

func (c Candle) text() string {
	s := fmt.Sprintf("%d", c.Start/1000)
	for _, k := range c.Keys {
		s += " " + k.String()
	}
	for _, v := range []Value{c.Open, c.High, c.Low, c.Close, c.Volume, c.VWAP} {
		s += " " + v.String()
		if v.IsNull() {
			s += "-"
		}
	}
	return s + fmt.Sprintf(" %d", c.Count)
}

func TestCandles(t *testing.T) {
	s, recs := ticks(t, [][4]int64{
		{1, 0, 100, 1}, {1, 5, 120, 2}, {1, 9, 90, 1}, {2, 3, 55, 0}, // interval 0
		{1, 30, 95, 4},                 // interval 30: nothing in 10 and 20
		{2, 41, -7, 1}, {2, 40, -8, 3}, // out of order
	})
	v, done := snapshot(t, s, recs, stream.Options{Capacity: 3}, false)
	defer done()
	for how, want := range map[Empty][]string{
		SkipEmpty: {
			"0 1 10.0 12.0 9.0 9.0 4 10.75000 3", "0 2 5.5 5.5 5.5 5.5 0 - 1",
			"30 1 9.5 9.5 9.5 9.5 4 9.50000 1", "40 2 -0.7 -0.7 -0.8 -0.8 4 -0.77500 2",
		},
		NullEmpty: {
			"0 1 10.0 12.0 9.0 9.0 4 10.75000 3", "0 2 5.5 5.5 5.5 5.5 0 - 1",
			"10 1 - - - - 0 - 0", "10 2 - - - - 0 - 0", "20 1 - - - - 0 - 0", "20 2 - - - - 0 - 0",
			"30 1 9.5 9.5 9.5 9.5 4 9.50000 1", "30 2 - - - - 0 - 0",
			"40 1 - - - - 0 - 0", "40 2 -0.7 -0.7 -0.8 -0.8 4 -0.77500 2",
		},
		CarryEmpty: {
			"0 1 10.0 12.0 9.0 9.0 4 10.75000 3", "0 2 5.5 5.5 5.5 5.5 0 - 1",
			"10 1 9.0 9.0 9.0 9.0 0 - 0", "10 2 5.5 5.5 5.5 5.5 0 - 0",
			"20 1 9.0 9.0 9.0 9.0 0 - 0", "20 2 5.5 5.5 5.5 5.5 0 - 0",
			"30 1 9.5 9.5 9.5 9.5 4 9.50000 1", "30 2 5.5 5.5 5.5 5.5 0 - 0",
			"40 1 9.5 9.5 9.5 9.5 0 - 0", "40 2 -0.7 -0.7 -0.8 -0.8 4 -0.77500 2",
		},
	} {
		got, err := From(v).By("sym").Every(10*time.Second).Candles(context.Background(), CandleOptions{Empty: how})
		if err != nil || len(got) != len(want) {
			t.Fatalf("empty %d: %d candles, %v; want %d", how, len(got), err, len(want))
		}
		for i, c := range got {
			if c.text() != want[i] {
				t.Errorf("empty %d, candle %d: %q, want %q", how, i, c.text(), want[i])
			}
		}
	}
	if _, err := From(v).Candles(context.Background(), CandleOptions{}); !isInvalid(err) {
		t.Errorf("without intervals: %v", err)
	}
	// A tiny interval over a long time would make empty candles without end.
	_, err := From(v).Every(time.Millisecond).MaxGroups(1000).Candles(context.Background(), CandleOptions{Empty: CarryEmpty})
	if !errors.Is(err, ErrTooMany) {
		t.Errorf("41,000 empty candles: %v", err)
	}
}
