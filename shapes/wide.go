package shapes

import "example.com/ledger/schema"

// A Trade is one trade as a venue reports it: 96 bytes as a row.
type Trade struct {
	Seq        uint64 // position in the stream; the stream sets it
	TS         int64  // when we learned of it, in the stream's unit
	Px         int64  // price, in steps of 10^-8 unless the schema is Scaled
	Qty        int64  // quantity, above 0, in steps of 10^-8 unless the schema is Scaled
	Trade      uint64 // the venue's id of the trade
	TakerOrder uint64 // the order that came in; 0 where the venue doesn't tell
	MakerOrder uint64 // the order that rested; 0 where the venue doesn't tell
	VenueSeq   uint64 // the venue's own message number; 0 where it has none
	VenueTS    int64  // when the venue says that it happened, in the stream's unit
	TakerAcct  uint32 // account behind TakerOrder; 0 where it isn't known
	MakerAcct  uint32 // account behind MakerOrder; 0 where it isn't known
	Flags      uint32 // any of the Flag bits
	Sym        uint32 // instrument, numbered by the stream's owner
	Venue      uint16 // venue, numbered by the stream's owner
	Side       Side   // of the taker: Buy lifts an offer
	_          [5]byte
}

var trade = once(
	schema.Field{Name: "px", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "qty", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "trade", Kind: schema.U64},
	schema.Field{Name: "taker_order", Kind: schema.U64},
	schema.Field{Name: "maker_order", Kind: schema.U64},
	schema.Field{Name: "venue_seq", Kind: schema.U64},
	schema.Field{Name: "venue_ts", Kind: schema.I64},
	schema.Field{Name: "taker_acct", Kind: schema.U32},
	schema.Field{Name: "maker_acct", Kind: schema.U32},
	schema.Field{Name: "flags", Kind: schema.U32},
	schema.Field{Name: "sym", Kind: schema.U32},
	schema.Field{Name: "venue", Kind: schema.U16},
	schema.Field{Name: "side", Kind: schema.U8},
)

// TradeSchema returns the schema of Trade, in nanoseconds.
func TradeSchema() *schema.Schema { return trade() }

// An OrderEvent is one market-by-order message: 96 bytes as a row. The comments
// of the Kind codes say which of its numbers each of them uses; the others are 0.
type OrderEvent struct {
	Seq      uint64 // position in the stream; the stream sets it
	TS       int64  // when we learned of it, in the stream's unit
	Px       int64  // price, in steps of 10^-8 unless the schema is Scaled
	Qty      int64  // quantity, in steps of 10^-8 unless the schema is Scaled
	Order    uint64 // the venue's id of the order
	Prior    uint64 // Replace: the id that Order had before, if the venue gave a new one
	Client   uint64 // the sender's own reference; 0 where the venue doesn't tell
	Trade    uint64 // Execute and Print: the venue's id of the trade
	VenueSeq uint64 // the venue's own message number; 0 where it has none
	VenueTS  int64  // when the venue says that it happened, in the stream's unit
	Account  uint32 // on whose behalf; 0 where it isn't known
	Flags    uint32 // any of the Flag bits
	Sym      uint32 // instrument, numbered by the stream's owner
	Venue    uint16 // venue, numbered by the stream's owner
	Kind     Kind   // what happened
	Side     Side   // of the order; for Execute of the one that rested
}

var orderEvent = once(
	schema.Field{Name: "px", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "qty", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "order", Kind: schema.U64},
	schema.Field{Name: "prior", Kind: schema.U64},
	schema.Field{Name: "client", Kind: schema.U64},
	schema.Field{Name: "trade", Kind: schema.U64},
	schema.Field{Name: "venue_seq", Kind: schema.U64},
	schema.Field{Name: "venue_ts", Kind: schema.I64},
	schema.Field{Name: "account", Kind: schema.U32},
	schema.Field{Name: "flags", Kind: schema.U32},
	schema.Field{Name: "sym", Kind: schema.U32},
	schema.Field{Name: "venue", Kind: schema.U16},
	schema.Field{Name: "kind", Kind: schema.U8},
	schema.Field{Name: "side", Kind: schema.U8},
)

// OrderEventSchema returns the schema of OrderEvent, in nanoseconds.
func OrderEventSchema() *schema.Schema { return orderEvent() }

// A Quote is both sides of one level of a book: 88 bytes as a row. A side with
// quantity 0 is empty, and its price is 0.
type Quote struct {
	Seq       uint64 // position in the stream; the stream sets it
	TS        int64  // when we learned of it, in the stream's unit
	BidPx     int64  // price, in steps of 10^-8 unless the schema is Scaled
	AskPx     int64  // the same
	BidQty    int64  // quantity, in steps of 10^-8 unless the schema is Scaled
	AskQty    int64  // the same
	VenueSeq  uint64 // the venue's own message number; 0 where it has none
	VenueTS   int64  // when the venue says that it happened, in the stream's unit
	BidOrders uint32 // number of orders; 0 where the venue doesn't tell
	AskOrders uint32 // the same
	Flags     uint32 // any of the Flag bits
	Sym       uint32 // instrument, numbered by the stream's owner
	Venue     uint16 // venue, numbered by the stream's owner
	Level     uint8  // 0 is the best bid and offer, 1 the next level, and so on
	_         [5]byte
}

var quote = once(
	schema.Field{Name: "bid_px", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "ask_px", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "bid_qty", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "ask_qty", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "venue_seq", Kind: schema.U64},
	schema.Field{Name: "venue_ts", Kind: schema.I64},
	schema.Field{Name: "bid_orders", Kind: schema.U32},
	schema.Field{Name: "ask_orders", Kind: schema.U32},
	schema.Field{Name: "flags", Kind: schema.U32},
	schema.Field{Name: "sym", Kind: schema.U32},
	schema.Field{Name: "venue", Kind: schema.U16},
	schema.Field{Name: "level", Kind: schema.U8},
)

// QuoteSchema returns the schema of Quote, in nanoseconds.
func QuoteSchema() *schema.Schema { return quote() }
