// Package shapes has ready-made records of markets: their schemas, the Go
// structs with the same memory, and the meaning of their codes.
//
//	name   struct      bytes  what one record is
//	fill   Fill           40  two orders matched, in 32-bit numbers
//	order  Order          40  a request to a matching engine, in 32-bit numbers
//	trade  Trade          96  a trade of a real venue
//	mbo    OrderEvent     96  a market-by-order message of a real venue
//	quote  Quote          88  best bid and offer, or one level of a book
//
// The structs have their padding written out, so that they have the same size on
// 32-bit machines. On a little-endian machine their memory is the record.
//
// A schema has one scale for each field. Prices and quantities in steps of
// another size, a venue's or a symbol's, need another schema: see Scaled. Where
// symbols with different steps share a stream, the finest of them is its scale.
//
// All functions may be called by any number of goroutines at once, and the
// schemas that they return are shared: they never change.
package shapes

import (
	"fmt"
	"strings"
	"sync"

	"example.com/ledger/schema"
)

// all is every shape, in the order of Names.
var all = []struct {
	name   string
	schema func() *schema.Schema
}{
	{"fill", FillSchema},
	{"order", OrderSchema},
	{"trade", TradeSchema},
	{"mbo", OrderEventSchema},
	{"quote", QuoteSchema},
}

// Names returns the names of all shapes, as ByName takes them.
func Names() []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.name
	}
	return names
}

// ByName returns the schema of the shape with that name, and whether there is one.
func ByName(name string) (*schema.Schema, bool) {
	for _, s := range all {
		if s.name == name {
			return s.schema(), true
		}
	}
	return nil, false
}

// Scaled returns the schema of the shape with that name, with px decimals in its
// prices and qty decimals in its quantities, 0 to 18. An unknown name and
// a scale above 18 are schema.ErrSchema. The struct of the shape fits the result.
func Scaled(name string, px, qty uint8) (*schema.Schema, error) {
	s, ok := ByName(name)
	if !ok {
		return nil, fmt.Errorf("%w: shape %q is none of %s", schema.ErrSchema, name, strings.Join(Names(), ", "))
	}
	fields := s.Fields()
	for i := range fields {
		switch f := &fields[i]; {
		case f.Name == "px" || strings.HasSuffix(f.Name, "_px"):
			f.Scale = px
		case f.Name == "qty" || strings.HasSuffix(f.Name, "_qty"):
			f.Scale = qty
		}
	}
	return schema.New(s.Unit(), fields...)
}

// once makes a schema in nanoseconds at its first use. A field that breaks a
// rule is a mistake in this package, and panics.
func once(fields ...schema.Field) func() *schema.Schema {
	return sync.OnceValue(func() *schema.Schema {
		s, err := schema.New(schema.Nanosecond, fields...)
		if err != nil {
			panic(err)
		}
		return s
	})
}
