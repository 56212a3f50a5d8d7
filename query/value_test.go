package query

import (
	"math"
	"math/big"
	"testing"

	"example.com/ledger/schema"
)

func TestValue(t *testing.T) {
	px := func(v int64) Value { return intValue(wideInt(v), 2) }
	huge := intValue(wide{0, 0, 1}, 36)
	for _, c := range []struct {
		v         Value
		text, raw string
	}{
		{px(6_412_350), "64123.50", "6412350"},
		{px(-5), "-0.05", "-5"},
		{px(math.MinInt64), "-92233720368547758.08", "-9223372036854775808"},
		{Value{}, "", ""},
		{quotient(wideInt(1), wideInt(3), 2, 6), "0.003333", "0.3333"},
		{quotient(wideInt(-2), wideInt(3), 2, 6), "-0.006667", "-0.6667"},
		{quotient(wideInt(2), wideInt(-3), 2, 6), "-0.006667", "-0.6667"},
		{quotient(wideInt(1), wideInt(2), 0, 0), "0", "0"}, // halves go to even
		{quotient(wideInt(3), wideInt(2), 0, 0), "2", "2"},
		{quotient(wideInt(-5), wideInt(2), 0, 0), "-2", "-2"},
		{quotient(wideInt(1), wide{}, 2, 6), "", ""},
		{huge, "340.282366920938463463374607431768211456", "340282366920938463463374607431768211456"},
		{intValue(wide{7}, 36), "0.000000000000000000000000000000000007", "7"},
		{fieldValue(math.MaxUint64, schema.U64, 0), "18446744073709551615", "18446744073709551615"},
	} {
		if c.v.String() != c.text || string(c.v.AppendRaw(nil)) != c.raw || c.v.IsNull() != (c.text == "") {
			t.Errorf("prints as %q and %q, want %q and %q", c.v.String(), c.v.AppendRaw(nil), c.text, c.raw)
		}
		if c.v.IsNull() {
			if c.v.Rat() != nil || !math.IsNaN(c.v.Float64()) {
				t.Errorf("null is %v, %v", c.v.Rat(), c.v.Float64())
			}
		} else if f, _ := c.v.Rat().Float64(); f != c.v.Float64() {
			t.Errorf("%s is %v", c.text, c.v.Float64())
		}
	}
	order := []Value{{}, px(-1), quotient(wideInt(-1), wideInt(3), 2, 6), px(0), quotient(wideInt(1), wideInt(3), 2, 6), intValue(wideInt(4), 3), px(1), huge}
	for i, a := range order {
		for k, b := range order {
			if want := big.NewInt(int64(i)).Cmp(big.NewInt(int64(k))); a.Cmp(b) != want {
				t.Errorf("%v against %v is %d, want %d", a, b, a.Cmp(b), want)
			}
		}
	}
	if n, ok := px(-5).Int64(); n != -5 || !ok {
		t.Errorf("Int64 of -0.05: %d, %v", n, ok)
	}
	for name, v := range map[string]Value{"null": {}, "a quotient": order[4], "too large": huge} {
		if _, ok := v.Int64(); ok {
			t.Errorf("%s is an int64", name)
		}
		if _, ok := v.Uint64(); ok {
			t.Errorf("%s is a uint64", name)
		}
	}
	if _, ok := px(-1).Uint64(); ok {
		t.Error("-0.01 is a uint64")
	}
	if n, ok := fieldValue(math.MaxUint64, schema.U64, 0).Uint64(); n != math.MaxUint64 || !ok {
		t.Errorf("Uint64 of 2^64-1: %d, %v", n, ok)
	}
}
