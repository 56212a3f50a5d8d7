package importer

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/schema"
)

// A Conv says how a cell becomes the integer of a field. Its zero value is none.
type Conv struct {
	about string // for people, as in "decimal"
	other string // a second column that it looks at, or ""
	key   string // the parameters, for the fingerprint of a mapping
	do    func(*cell) (int64, error)
}

// A cell is a text on its way into a field.
type cell struct {
	text, other string
	field       schema.Field // for ts one of 64 bits with that name
	env         *env
}

// An env is what conversions know beside the cell: one for each input.
type env struct {
	clock   clock
	dict    *dictionary.Dictionary
	symbol  string // of the input, "" if none
	rounded uint64 // times whose digits behind the ninth were rounded
}

var errEmpty = errors.New("no value")

// Decimal is a decimal number, exactly; zeros at its end don't count. A digit
// more than the field's scale, a number beyond its kind and an exponent are errors.
func Decimal() Conv {
	return Conv{about: "decimal", do: func(c *cell) (int64, error) {
		if c.text == "" {
			return 0, errEmpty
		}
		return c.field.ParseValue(schema.TrimZeros(c.text))
	}}
}

// Integer is a whole number without a sign of rounding: no point, no exponent.
func Integer() Conv {
	return Conv{about: "integer", do: func(c *cell) (int64, error) {
		if c.text == "" {
			return 0, errEmpty
		}
		if strings.Contains(c.text, ".") {
			return 0, fmt.Errorf("%q is no whole number", shorten(c.text))
		}
		return c.field.ParseValue(c.text)
	}}
}

// Scaled is a whole number of steps of 10^-scale: 5853300 with scale 4 is 585.33.
func Scaled(scale uint8) Conv {
	return Conv{about: fmt.Sprintf("integer × 10^-%d", scale), key: fmt.Sprint(scale), do: func(c *cell) (int64, error) {
		return scaled(c, scale)
	}}
}

func scaled(c *cell, scale uint8) (int64, error) {
	if c.text == "" {
		return 0, errEmpty
	}
	// As an integer first: what is no number must not become one by a point.
	v, err := schema.ParseDecimal(c.text, schema.I64, 0)
	if err != nil {
		return 0, err
	}
	return c.field.ParseValue(schema.TrimZeros(schema.FormatDecimal(v, scale)))
}

// ScaledUnless is Scaled, but 0 in rows in which another column has one of values:
// what stands there then is no price.
func ScaledUnless(scale uint8, column string, values ...string) Conv {
	about := fmt.Sprintf("integer × 10^-%d, 0 where %s is %s", scale, column, strings.Join(values, " or "))
	return Conv{about: about, other: column, key: about, do: func(c *cell) (int64, error) {
		if slices.Contains(values, c.other) {
			return 0, nil
		}
		return scaled(c, scale)
	}}
}

// Table replaces texts by numbers. Any other text is an error.
func Table(table map[string]int64) Conv { return TableBy("", table) }

// TableBy is Table, but where the table has text:other, with the text of another
// column, that counts first.
func TableBy(other string, table map[string]int64) Conv {
	var pairs []string
	for text, v := range table {
		pairs = append(pairs, fmt.Sprintf("%s=%d", text, v))
	}
	slices.Sort(pairs)
	about := "{" + strings.Join(pairs, ",") + "}"
	if other != "" {
		about += " by " + other
	}
	return Conv{about: about, other: other, key: about, do: func(c *cell) (int64, error) {
		if other != "" {
			if v, ok := table[c.text+":"+c.other]; ok {
				return v, nil
			}
		}
		if v, ok := table[c.text]; ok {
			return v, nil
		}
		if c.text == "" {
			return 0, errEmpty
		}
		return 0, fmt.Errorf("%q is none of %s", shorten(c.text), about)
	}}
}

// Differs is the number v where two columns hold different texts, and 0 where
// they are the same.
func Differs(other string, v int64) Conv {
	return Conv{about: fmt.Sprintf("%d where it is not %s", v, other), other: other, key: fmt.Sprint(v), do: func(c *cell) (int64, error) {
		if c.text == c.other {
			return 0, nil
		}
		return v, nil
	}}
}

// Fixed is always the number v.
func Fixed(v int64) Conv {
	return Conv{about: fmt.Sprint(v), key: fmt.Sprint(v), do: func(*cell) (int64, error) { return v, nil }}
}

// Text is a text whose number is in the stream's dictionary, which gets it if
// it is new.
func Text() Conv {
	return Conv{about: "text", do: func(c *cell) (int64, error) {
		if c.text == "" {
			return 0, errEmpty
		}
		n, err := c.env.dict.Assign(c.field.Name, c.text)
		return int64(n), err
	}}
}

// FileSymbol is the symbol of the whole file, as Text: the one that was given,
// or that its name has. Without one it is 0.
func FileSymbol() Conv {
	return Conv{about: "the file's symbol", do: func(c *cell) (int64, error) {
		if c.env.symbol == "" {
			return 0, nil
		}
		n, err := c.env.dict.Assign(c.field.Name, c.env.symbol)
		return int64(n), err
	}}
}

// UUIDHigh is the first half of a UUID, as 64 bits; UUIDLow is the second.
func UUIDHigh() Conv { return uuidHalf("first half of a UUID", 0) }

// UUIDLow is the second half of a UUID: see UUIDHigh.
func UUIDLow() Conv { return uuidHalf("second half of a UUID", 8) }

func uuidHalf(about string, at int) Conv {
	return Conv{about: about, do: func(c *cell) (int64, error) {
		t := c.text
		var b [16]byte
		if len(t) != 36 || t[8] != '-' || t[13] != '-' || t[18] != '-' || t[23] != '-' {
			return 0, fmt.Errorf("%q is no UUID", shorten(t))
		}
		plain := []byte(t[:8] + t[9:13] + t[14:18] + t[19:23] + t[24:])
		if _, err := hex.Decode(b[:], plain); err != nil {
			return 0, fmt.Errorf("%q is no UUID", shorten(t))
		}
		var v uint64
		for _, x := range b[at : at+8] {
			v = v<<8 | uint64(x)
		}
		return int64(v), nil // the bit pattern, for a field of kind u64
	}}
}

// Time is a point in time of the form f.
func Time(f TimeForm) Conv {
	return Conv{about: f.String(), key: f.String(), do: func(c *cell) (int64, error) {
		if c.text == "" {
			return 0, errEmpty
		}
		ts, rounded, err := c.env.clock.parse(c.text, f)
		if rounded && c.field.Name == "ts" { // a second field of the same time is no second time
			c.env.rounded++
		}
		return ts, err
	}}
}

// sides are the ways in which venues write the direction of an order.
var sides = map[string]int64{
	"buy": 0, "sell": 1, "b": 0, "s": 1, "BUY": 0, "SELL": 1, "Buy": 0, "Sell": 1, "B": 0, "S": 1,
	"bid": 0, "ask": 1, "none": 2, "0": 0, "1": 1, "2": 2,
}

// makerBuys is whether the buyer was the maker, as the taker's side.
var makerBuys = map[string]int64{"true": 1, "false": 0, "True": 1, "False": 0, "TRUE": 1, "FALSE": 0}
