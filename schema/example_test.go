package schema_test

import (
	"errors"
	"fmt"

	"example.com/ledger/schema"
)

// A shape of one's own, and one record of it.
func Example() {
	s, err := schema.New(schema.Millisecond,
		schema.Field{Name: "px", Kind: schema.I32, Scale: 2},
		schema.Field{Name: "qty", Kind: schema.U16})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec := make([]byte, s.Width())
	schema.PutTime(rec, 1791800000000)
	px, qty := 0, 1
	if err := s.PutInt(rec, px, 6412350); err != nil {
		fmt.Println(err)
	}
	if err := s.PutInt(rec, qty, 70000); errors.Is(err, schema.ErrRange) {
		fmt.Println(err)
	}
	fmt.Println(schema.FormatDecimal(s.Int(rec, px), s.Field(px).Scale), s.Int(rec, qty))
	// Output:
	// ledger: qty: 70000 does not fit u16 (0 to 65535)
	// 64123.50 0
}

// All problems are told at once.
func ExampleNew() {
	_, err := schema.New(schema.Nanosecond,
		schema.Field{Name: "Price", Kind: schema.I64, Scale: 20},
		schema.Field{Name: "ts", Kind: schema.I64})
	fmt.Println(err)
	// Output:
	// ledger: bad schema: field 0 "Price": a name is made of a-z, 0-9 and _
	// ledger: bad schema: field 0 "Price": scale 20, at most 18
	// ledger: bad schema: field 1 "ts": every record has one already
}

func ExampleParseField() {
	f, err := schema.ParseField("px:i32:2")
	fmt.Println(f.Name, f.Kind, f.Scale, err)
	// Output: px i32 2 <nil>
}

// A decimal is read exactly or not at all.
func ExampleParseDecimal() {
	for _, text := range []string{"64123.5", "64123.505", "6.41235e4", "64123999.00"} {
		v, err := schema.ParseDecimal(text, schema.I32, 2)
		fmt.Println(v, err)
	}
	// Output:
	// 6412350 <nil>
	// 0 ledger: 64123.505 has more than 2 decimals
	// 0 ledger: not a decimal number: "6.41235e4"
	// 0 ledger: 64123999.00 does not fit i32 with 2 decimals (-21474836.48 to 21474836.47)
}

// A schema as it stands in a stream's metadata.
func ExampleSchema_MarshalJSON() {
	s, err := schema.New(schema.Nanosecond, schema.Field{Name: "px", Kind: schema.I32, Scale: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := s.MarshalJSON()
	fmt.Println(string(b), err)
	// Output: {"unit":"ns","fields":[{"name":"px","kind":"i32","scale":2}]} <nil>
}
