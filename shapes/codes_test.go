package shapes

import (
	"fmt"
	"math/bits"
	"testing"
)

// TestCodes pins the numbers of sides and kinds, which are on disk, and their texts.
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		code fmt.Stringer
		n    uint8
		text string
	}{
		{Buy, 0, "buy"}, {Sell, 1, "sell"}, {NoSide, 2, "none"}, {Side(3), 3, "side(3)"}, {Side(255), 255, "side(255)"},
		{Kind(0), 0, "kind(0)"}, {Limit, 1, "limit"}, {Reduce, 2, "reduce"}, {Cancel, 3, "cancel"}, {IOC, 4, "ioc"},
		{Print, 5, "print"}, {Market, 6, "market"}, {Halt, 7, "halt"}, {Resume, 8, "resume"}, {Replace, 9, "replace"},
		{FOK, 10, "fok"}, {PostOnly, 11, "post-only"}, {Execute, 12, "execute"}, {Clear, 13, "clear"},
		{Kind(14), 14, "kind(14)"}, {Kind(255), 255, "kind(255)"},
	} {
		var n uint8
		switch code := c.code.(type) {
		case Side:
			n = uint8(code)
		case Kind:
			n = uint8(code)
		}
		if n != c.n || c.code.String() != c.text {
			t.Errorf("%T %d is %q, want %d, %q", c.code, n, c.code, c.n, c.text)
		}
	}
}

func TestOpposite(t *testing.T) {
	for s, want := range map[Side]Side{Buy: Sell, Sell: Buy, NoSide: NoSide, 77: 77} {
		if got := s.Opposite(); got != want {
			t.Errorf("%v.Opposite() = %v, want %v", s, got, want)
		}
	}
}

// TestFlags pins the bits: each flag has one of its own, and those of a Fill
// fit its eight.
func TestFlags(t *testing.T) {
	small := []uint32{FlagSynthetic, FlagHidden, FlagMakerDone, FlagAuction, FlagBlock, FlagImplied}
	wide := []uint32{FlagCorrect, FlagBust, FlagAggregate, FlagReplay, FlagSnapshot, FlagMore, FlagGap, FlagOddLot}
	for i, f := range small {
		if f != 1<<i {
			t.Errorf("small flag %d is %#x", i, f)
		}
	}
	for i, f := range wide {
		if f != 1<<(8+i) || f&FlagsVenue != 0 {
			t.Errorf("wide flag %d is %#x", i, f)
		}
	}
	if bits.OnesCount32(FlagsVenue) != 16 || FlagsVenue>>16 != 0xffff {
		t.Errorf("FlagsVenue is %#x", FlagsVenue)
	}
	_ = Fill{Flags: FlagSynthetic | FlagHidden | FlagMakerDone | FlagAuction | FlagBlock | FlagImplied}
}
