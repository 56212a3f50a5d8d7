package importer

import (
	"slices"

	"example.com/ledger/schema"
	"example.com/ledger/shapes"
)

// Kinds of OrderEvent that package shapes leaves to the application: what these
// venues report and no code of shapes means.
const (
	// KindLeft: Qty is what is left of the resting Order. Bitstamp doesn't say how
	// much of it traded and how much was taken back.
	KindLeft = 128
	// KindFilled: Qty of the resting Order traded at Px; the Reduce that takes it
	// off the book follows as a message of its own. DBN's F.
	KindFilled = 129
	// KindNone: nothing happened to the book; the flags are what it is for. DBN's N.
	KindNone = 130
)

// Presets returns all presets, by name. They are the caller's to change.
func Presets() []Preset {
	all := []Preset{
		{
			Name: "lobster", About: "LOBSTER message files: market by order, one day of one symbol each",
			Format: Format{Columns: []string{"time", "type", "order_id", "size", "price", "direction"}},
			Shape:  "mbo", Px: 4, Qty: 0, Zone: "America/New_York",
			FileName: `(?:^|_)(?P<symbol>[A-Z][A-Z.]*)_(?P<date>\d{4}-\d\d-\d\d)_`,
			Doc: "times are seconds after midnight in New York; one with more than nine decimals is rounded to ns, and counted. " +
				"A halt has no price: -1 is a halt, 0 and 1 are a resume. Prints have the taker's side, which is opposite to the file's",
			Rules: []Rule{
				{To: "ts", From: "time", As: Time(Midnight)},
				{To: "venue_ts", From: "time", As: Time(Midnight)},
				{To: "px", From: "price", As: ScaledUnless(4, "type", "7")},
				{To: "qty", From: "size", As: Integer()},
				{To: "order", From: "order_id", As: Integer()},
				{To: "kind", From: "type", As: TableBy("price", map[string]int64{
					"1": int64(shapes.Limit), "2": int64(shapes.Reduce), "3": int64(shapes.Cancel), "4": int64(shapes.Execute),
					"5": int64(shapes.Print), "6": int64(shapes.Print),
					"7:-1": int64(shapes.Halt), "7:0": int64(shapes.Resume), "7:1": int64(shapes.Resume),
				})},
				{To: "flags", From: "type", As: Table(map[string]int64{"1": 0, "2": 0, "3": 0, "4": 0, "5": shapes.FlagHidden, "6": shapes.FlagAuction, "7": 0})},
				{To: "side", From: "direction", As: TableBy("type", map[string]int64{
					"1": 0, "-1": 1, "1:5": 1, "-1:5": 0, "1:6": 1, "-1:6": 0, "1:7": 2, "-1:7": 2, "0:7": 2,
				})},
				{To: "sym", From: "", As: FileSymbol()},
			},
		},
		{
			Name: "binance-trades", About: "Binance spot and futures trades, with or without a header, in ms or us",
			Format: Format{Columns: []string{"id|trade_id", "price", "qty|quantity", "quote_qty|quoteQty", "time", "is_buyer_maker", "is_best_match"}, Optional: 1},
			Shape:  "trade", Px: 8, Qty: 8,
			FileName: `(?P<symbol>[A-Z0-9]+(?:_[A-Z0-9]+)*)-trades-`,
			Key:      []string{"trade", "sym"},
			Doc:      "the unit of a time is told by its size; the quote quantity is not kept: it is price × quantity",
			Rules: append(venueTime("time", Auto),
				Rule{To: "px", From: "price", As: Decimal()},
				Rule{To: "qty", From: "qty", As: Decimal()},
				Rule{To: "trade", From: "id", As: Integer()},
				Rule{To: "side", From: "is_buyer_maker", As: Table(makerBuys)},
				Rule{To: "sym", From: "", As: FileSymbol()}),
		},
		{
			Name: "binance-aggtrades", About: "Binance spot and futures aggTrades, with or without a header, in ms or us",
			Format: Format{Columns: []string{"agg_trade_id|a|id", "price|p", "quantity|q|qty", "first_trade_id|f", "last_trade_id|l",
				"transact_time|T|time", "is_buyer_maker|m", "is_best_match"}, Optional: 1},
			Fields: []schema.Field{{Name: "px", Kind: schema.I64, Scale: 8}, {Name: "qty", Kind: schema.I64, Scale: 8},
				{Name: "trade", Kind: schema.U64}, {Name: "first", Kind: schema.U64}, {Name: "last", Kind: schema.U64},
				{Name: "flags", Kind: schema.U32}, {Name: "sym", Kind: schema.U32}, {Name: "side", Kind: schema.U8}},
			FileName: `(?P<symbol>[A-Z0-9]+(?:_[A-Z0-9]+)*)-aggTrades-`,
			Key:      []string{"trade", "sym"},
			Doc:      "trade is the aggregate's id; one of several trades has the flag aggregate, 1024",
			Rules: []Rule{
				{To: "ts", From: "transact_time", As: Time(Auto)},
				{To: "px", From: "price", As: Decimal()},
				{To: "qty", From: "quantity", As: Decimal()},
				{To: "trade", From: "agg_trade_id", As: Integer()},
				{To: "first", From: "first_trade_id", As: Integer()},
				{To: "last", From: "last_trade_id", As: Integer()},
				{To: "flags", From: "first_trade_id", As: Differs("last_trade_id", shapes.FlagAggregate)},
				{To: "side", From: "is_buyer_maker", As: Table(makerBuys)},
				{To: "sym", From: "", As: FileSymbol()},
			},
		},
		{
			Name: "bitstamp", About: "Bitstamp order events: id, both clocks, price, volume, action, direction",
			Format: Format{Columns: []string{"id", "timestamp", "exchange.timestamp", "price", "volume", "action", "direction"}},
			Shape:  "mbo", Px: 8, Qty: 8,
			Doc: "ts is the local clock and venue_ts the exchange's, which goes back now and then; changed is kind 128: qty is what is left of the order",
			Rules: []Rule{
				{To: "ts", From: "timestamp", As: Time(Millis)},
				{To: "venue_ts", From: "exchange.timestamp", As: Time(Millis)},
				{To: "px", From: "price", As: Decimal()},
				{To: "qty", From: "volume", As: Scaled(8)},
				{To: "order", From: "id", As: Integer()},
				{To: "kind", From: "action", As: Table(map[string]int64{"created": int64(shapes.Limit), "changed": KindLeft, "deleted": int64(shapes.Cancel)})},
				{To: "side", From: "direction", As: Table(map[string]int64{"bid": 0, "ask": 1})},
				{To: "sym", From: "", As: FileSymbol()},
			},
		},
		{
			Name: "kraken", About: "Kraken's and bitcoincharts' trades: seconds, price, volume",
			Format: Format{Columns: []string{"time|timestamp", "price", "volume|amount"}},
			Shape:  "trade", Px: 8, Qty: 8,
			FileName: `(?:^|_)(?P<symbol>[A-Z][A-Z0-9]+)$`,
			Doc:      "there is no id and no side: side is 2, none",
			Rules: append(venueTime("time", Seconds),
				Rule{To: "px", From: "price", As: Decimal()},
				Rule{To: "qty", From: "volume", As: Decimal()},
				Rule{To: "side", From: "", As: Fixed(int64(shapes.NoSide))},
				Rule{To: "sym", From: "", As: FileSymbol()}),
		},
		{
			Name: "coinbase", About: "Coinbase matches, as JSON lines; other messages are passed over",
			Format: Format{Form: JSON},
			Fields: []schema.Field{{Name: "px", Kind: schema.I64, Scale: 8}, {Name: "qty", Kind: schema.I64, Scale: 8},
				{Name: "trade", Kind: schema.U64}, {Name: "venue_seq", Kind: schema.U64},
				{Name: "taker_hi", Kind: schema.U64}, {Name: "taker_lo", Kind: schema.U64},
				{Name: "maker_hi", Kind: schema.U64}, {Name: "maker_lo", Kind: schema.U64},
				{Name: "flags", Kind: schema.U32}, {Name: "sym", Kind: schema.U32}, {Name: "side", Kind: schema.U8}},
			Key:  []string{"trade", "sym"},
			Only: Only{"type", []string{"match", "last_match"}},
			Doc:  "the orders' UUIDs are kept whole, in two halves; side is the taker's, opposite to the file's; last_match has the flag replay, 2048",
			Rules: []Rule{
				{To: "ts", From: "time", As: Time(ISO)},
				{To: "px", From: "price", As: Decimal()},
				{To: "qty", From: "size", As: Decimal()},
				{To: "trade", From: "trade_id", As: Integer()},
				{To: "venue_seq", From: "sequence", As: Integer()},
				{To: "taker_hi", From: "taker_order_id", As: UUIDHigh()},
				{To: "taker_lo", From: "taker_order_id", As: UUIDLow()},
				{To: "maker_hi", From: "maker_order_id", As: UUIDHigh()},
				{To: "maker_lo", From: "maker_order_id", As: UUIDLow()},
				{To: "flags", From: "type", As: Table(map[string]int64{"match": 0, "last_match": shapes.FlagReplay})},
				{To: "side", From: "side", As: Table(map[string]int64{"sell": 0, "buy": 1})},
				{To: "sym", From: "product_id", As: Text()},
			},
		},
		{
			Name: "freqtrade", About: "freqtrade's and ccxt's trades: row, ms, id, type, side, price, amount, cost, date",
			Format: Format{Columns: []string{"row", "timestamp", "id", "type", "side", "price", "amount", "cost", "date"}, Optional: 1},
			Shape:  "trade", Px: 8, Qty: 8,
			Key: []string{"trade", "sym"},
			Doc: "cost is not kept: it is price × amount; nor is date: it is the timestamp again",
			Rules: append(venueTime("timestamp", Millis),
				Rule{To: "px", From: "price", As: Decimal()},
				Rule{To: "qty", From: "amount", As: Decimal()},
				Rule{To: "trade", From: "id", As: Integer()},
				Rule{To: "side", From: "side", As: Table(map[string]int64{"buy": 0, "sell": 1})},
				Rule{To: "sym", From: "", As: FileSymbol()}),
		},
		dbnTrades(), dbnOrders(),
		{
			Name: "csv", About: "any CSV with a header, or --columns: --map and --time-column say what goes where",
			Same: true,
		},
		{
			Name: "jsonl", About: "any objects, one a line: --map and --time-column say what goes where",
			Format: Format{Form: JSON}, Same: true,
		},
	}
	return all
}

// ByName returns the preset of that name.
func ByName(name string) (Preset, bool) {
	all := Presets()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return all[i], true
}

// venueTime fills ts and, where the stream has it, venue_ts from the only time
// that the file has.
func venueTime(column string, f TimeForm) []Rule {
	return []Rule{{To: "ts", From: column, As: Time(f)}, {To: "venue_ts", From: column, As: Time(f)}}
}
