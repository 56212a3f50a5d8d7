package shapes

import "example.com/ledger/schema"

// A Fill is one match of two orders: 40 bytes as a row, 28 in a column file.
// Orders are named by their id or by their number in the stream of orders, as the
// stream's owner decides.
type Fill struct {
	Seq   uint64 // position in the stream; the stream sets it
	TS    int64  // time of the match, in the stream's unit
	Px    int32  // price, in steps of 10^-2 unless the schema is Scaled
	Qty   int32  // quantity, above 0, in whole pieces unless the schema is Scaled
	Taker uint32 // the order that came in; 0 where none is known
	Maker uint32 // the order that rested; 0 where FlagHidden
	Sym   uint16 // instrument, numbered by the stream's owner
	Side  Side   // of the taker: Buy lifts an offer
	Flags uint8  // of the Flag bits those up to FlagImplied
	_     [4]byte
}

var fill = once(
	schema.Field{Name: "px", Kind: schema.I32, Scale: 2},
	schema.Field{Name: "qty", Kind: schema.I32},
	schema.Field{Name: "taker", Kind: schema.U32},
	schema.Field{Name: "maker", Kind: schema.U32},
	schema.Field{Name: "sym", Kind: schema.U16},
	schema.Field{Name: "side", Kind: schema.U8},
	schema.Field{Name: "flags", Kind: schema.U8},
)

// FillSchema returns the schema of Fill, in nanoseconds.
func FillSchema() *schema.Schema { return fill() }

// An Order is one request to a matching engine: 40 bytes as a row, 32 in a column
// file. The comments of the Kind codes say which of its numbers each of them uses;
// the others are 0.
type Order struct {
	Seq     uint64 // position in the stream; the stream sets it
	TS      int64  // time of arrival, in the stream's unit
	Px      int32  // limit price, in steps of 10^-2 unless the schema is Scaled
	Qty     int32  // quantity, above 0, in whole pieces unless the schema is Scaled
	Account uint32 // on whose behalf; 0 where it isn't known
	Client  uint32 // the sender's own reference, for its answer; 0 if none
	Order   uint32 // the order that is entered, reduced, replaced or cancelled
	Sym     uint16 // instrument, numbered by the stream's owner
	Kind    Kind   // what is asked for
	Side    Side   // of the order
}

var order = once(
	schema.Field{Name: "px", Kind: schema.I32, Scale: 2},
	schema.Field{Name: "qty", Kind: schema.I32},
	schema.Field{Name: "account", Kind: schema.U32},
	schema.Field{Name: "client", Kind: schema.U32},
	schema.Field{Name: "order", Kind: schema.U32},
	schema.Field{Name: "sym", Kind: schema.U16},
	schema.Field{Name: "kind", Kind: schema.U8},
	schema.Field{Name: "side", Kind: schema.U8},
)

// OrderSchema returns the schema of Order, in nanoseconds.
func OrderSchema() *schema.Schema { return order() }
