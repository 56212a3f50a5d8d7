package dictionary

import (
	"fmt"
	"math"

	"example.com/ledger/schema"
)

// Names of the fields whose decimals a dictionary keeps for each symbol.
const (
	SymbolField   = "sym"
	PriceField    = "px"
	QuantityField = "qty"
)

// Steps keep a dictionary's decimals of prices and quantities up with records,
// and hold prices to the tick of their symbol, where it was told.
type Steps struct {
	s            *schema.Schema
	d            *Dictionary
	sym, px, qty int // qty −1 if there is none
	by           map[uint64]*step
}

type step struct {
	px, qty int64 // what all values so far are multiples of: 10^n
	tick    int64 // 0 if it wasn't told
}

// NewSteps returns the Steps of streams with that schema, nil if they have no
// prices by symbol. Where a symbol of the dictionary has a tick that no price of
// the stream can have, See says so.
func NewSteps(s *schema.Schema, d *Dictionary) *Steps {
	sym, ok1 := s.Index(SymbolField)
	px, ok2 := s.Index(PriceField)
	if !ok1 || !ok2 {
		return nil
	}
	qty, ok := s.Index(QuantityField)
	if !ok {
		qty = -1
	}
	return &Steps{s: s, d: d, sym: sym, px: px, qty: qty, by: map[uint64]*step{}}
}

// See takes note of a record, and refuses a price between two ticks.
func (y *Steps) See(rec []byte) error {
	n := y.s.Uint(rec, y.sym)
	e, err := y.step(n)
	if err != nil || e == nil {
		return err
	}
	px := y.s.Int(rec, y.px)
	if e.tick > 0 && px%e.tick != 0 {
		f := y.s.Field(y.px)
		return fmt.Errorf("%s is no multiple of the symbol's tick %s", f.AppendValue(nil, px), y.d.Entry(SymbolField, n).Tick)
	}
	if px%e.px == 0 && (y.qty < 0 || y.s.Int(rec, y.qty)%e.qty == 0) {
		return nil
	}
	for px%e.px != 0 {
		e.px /= 10
	}
	for y.qty >= 0 && y.s.Int(rec, y.qty)%e.qty != 0 {
		e.qty /= 10
	}
	y.d.Widen(SymbolField, n, y.decimals(y.px, e.px), y.decimals(y.qty, e.qty))
	return nil
}

// decimals is how many a field's values have that are multiples of step.
func (y *Steps) decimals(field int, step int64) uint8 {
	if field < 0 {
		return 0
	}
	d := y.s.Field(field).Scale
	for ; step > 1 && d > 0; step /= 10 {
		d--
	}
	return d
}

// step returns what is known of a symbol, nil if it has no text.
func (y *Steps) step(n uint64) (*step, error) {
	if e, ok := y.by[n]; ok {
		return e, nil
	}
	if _, ok := y.d.Text(SymbolField, n); !ok {
		return nil, nil
	}
	known := y.d.Entry(SymbolField, n)
	e := &step{px: y.start(y.px, known.PxScale), qty: y.start(y.qty, known.QtyScale)}
	if known.Tick != "" {
		tick, err := y.s.Field(y.px).ParseValue(known.Tick)
		if err != nil || tick <= 0 {
			return nil, fmt.Errorf("the tick %q of %s fits no price of the stream", known.Tick, known.Text)
		}
		e.tick = tick
	}
	y.by[n] = e
	return e, nil
}

func (y *Steps) start(field int, decimals uint8) int64 {
	if field < 0 {
		return math.MaxInt64
	}
	step := int64(1)
	for d := y.s.Field(field).Scale; d > decimals; d-- {
		step *= 10
	}
	return step
}
