package shapes

import "strconv"

// A Side is a direction.
type Side uint8

// Sides are written to disk: never renumber one, never reuse a number.
const (
	Buy    Side = 0
	Sell   Side = 1
	NoSide Side = 2 // neither, or not known: a cross, an auction, a halt
)

var sideNames = [...]string{Buy: "buy", Sell: "sell", NoSide: "none"}

// String returns "buy", "sell" or "none".
func (s Side) String() string {
	if int(s) < len(sideNames) {
		return sideNames[s]
	}
	return "side(" + strconv.Itoa(int(s)) + ")"
}

// Opposite returns Sell for Buy, Buy for Sell, and any other side as it is.
func (s Side) Opposite() Side {
	if s <= Sell {
		return s ^ 1
	}
	return s
}

// A Kind says what an Order asks for, or what an OrderEvent reports.
type Kind uint8

// Kinds are written to disk: never renumber one, never reuse a number. 0 is
// none, so that a record that was never filled in is no order. All of them use
// Sym, and those that name an Order its Side; the other numbers are named. From
// 128 on they belong to the application.
const (
	// Limit enters Order for Qty at Px or better; what isn't matched at once rests.
	Limit Kind = 1
	// Reduce takes Qty off the resting Order, which keeps its priority. If nothing
	// is left, it is gone.
	Reduce Kind = 2
	// Cancel removes what is left of the resting Order.
	Cancel Kind = 3
	// IOC enters Order for Qty at Px or better; what isn't matched at once is cancelled.
	IOC Kind = 4
	// Print is a trade of Qty at Px that never touched the book, such as the
	// execution of a hidden order: no resting order changes. Side is the taker's.
	Print Kind = 5
	// Market enters Order for Qty at any price; what isn't matched at once is cancelled.
	Market Kind = 6
	// Halt stops the matching of Sym. Resting orders stay and may be cancelled.
	Halt Kind = 7
	// Resume ends a Halt.
	Resume Kind = 8
	// Replace gives the resting Order the price Px and the quantity Qty, and the
	// lowest priority at Px: it is Cancel and Limit in one.
	Replace Kind = 9
	// FOK enters Order for Qty at Px or better, and cancels it unless all of it is
	// matched at once.
	FOK Kind = 10
	// PostOnly enters Order for Qty at Px, and cancels it if any of it would be
	// matched at once.
	PostOnly Kind = 11
	// Execute reports that Qty of the resting Order traded at Px. It is an event, and
	// nothing that an engine can be asked for.
	Execute Kind = 12
	// Clear empties the book of Sym: what comes next builds it anew.
	Clear Kind = 13
)

var kindNames = [...]string{
	Limit: "limit", Reduce: "reduce", Cancel: "cancel", IOC: "ioc", Print: "print",
	Market: "market", Halt: "halt", Resume: "resume", Replace: "replace", FOK: "fok",
	PostOnly: "post-only", Execute: "execute", Clear: "clear",
}

// String returns "limit", "reduce" and so on.
func (k Kind) String() string {
	if k >= Limit && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Flags are bits, written to disk: never renumber one, never reuse a bit. A Fill
// has room for bits 0 to 7 and the wide shapes for all; bits 6 and 7 are free and
// zero, bits 16 to 31 are the venue's own conditions.
const (
	// FlagSynthetic: the venue reported only what the resting order lost; the order
	// that took it was made up by the reader.
	FlagSynthetic = 1 << 0
	// FlagHidden: the print never touched the book: what traded was a hidden order,
	// and no visible one changed.
	FlagHidden = 1 << 1
	// FlagMakerDone: nothing is left of the resting order.
	FlagMakerDone = 1 << 2
	// FlagAuction: matched in an auction or a cross, at one price for all.
	FlagAuction = 1 << 3
	// FlagBlock: agreed off the book and reported to the venue.
	FlagBlock = 1 << 4
	// FlagImplied: matched against orders of other instruments, such as a spread.
	FlagImplied = 1 << 5

	// FlagCorrect: this is how the trade of the same id should have been.
	FlagCorrect = 1 << 8
	// FlagBust: the trade of the same id is void.
	FlagBust = 1 << 9
	// FlagAggregate: the record stands for several trades at one price.
	FlagAggregate = 1 << 10
	// FlagReplay: the venue sent it before, and sends it again.
	FlagReplay = 1 << 11
	// FlagSnapshot: part of a picture of the whole book, not a change of it.
	FlagSnapshot = 1 << 12
	// FlagMore: the venue's message goes on in the next record.
	FlagMore = 1 << 13
	// FlagGap: messages of the venue are missing before this one.
	FlagGap = 1 << 14
	// FlagOddLot: smaller than the venue's round lot.
	FlagOddLot = 1 << 15

	// FlagsVenue has all bits that are the venue's own.
	FlagsVenue uint32 = 0xffff << 16
)
