package shapes_test

import (
	"fmt"

	"example.com/ledger/schema"
	"example.com/ledger/shapes"
)

// A stream's schema, and what lies where in its records.
func Example() {
	s := shapes.FillSchema()
	fmt.Println(s)
	for i, f := range s.Fields() {
		fmt.Printf("%2d %s\n", s.Offset(i), f.Name)
	}
	fmt.Println(s.Width(), "bytes")
	// Output:
	// ns px:i32:2 qty:i32 taker:u32 maker:u32 sym:u16 side:u8 flags:u8
	// 16 px
	// 20 qty
	// 24 taker
	// 28 maker
	// 32 sym
	// 34 side
	// 35 flags
	// 40 bytes
}

// A venue whose prices have four decimals, and whose clock counts microseconds.
func ExampleScaled() {
	s, err := shapes.Scaled("order", 4, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err = s.WithUnit(schema.Microsecond)
	fmt.Println(s, err)
	// Output: us px:i32:4 qty:i32 account:u32 client:u32 order:u32 sym:u16 kind:u8 side:u8 <nil>
}

func ExampleByName() {
	if _, ok := shapes.ByName("trades"); !ok {
		fmt.Println("shapes are", shapes.Names())
	}
	// Output: shapes are [fill order trade mbo quote]
}

// An order that takes 100 pieces at 64123.50 or better, and leaves nothing behind.
func ExampleOrder() {
	px, err := shapes.OrderSchema().Field(0).ParseValue("64123.50")
	if err != nil {
		fmt.Println(err)
		return
	}
	o := shapes.Order{Px: int32(px), Qty: 100, Order: 7, Sym: 3, Kind: shapes.IOC, Side: shapes.Buy}
	fmt.Println(o.Kind, o.Side, o.Qty, "at", schema.FormatDecimal(int64(o.Px), 2))
	// Output: ioc buy 100 at 64123.50
}
