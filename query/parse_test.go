package query

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/schema"
)

func isInvalid(err error) bool { return errors.Is(err, ErrInvalid) }

var fillLike = mustSchema(schema.New(schema.Nanosecond,
	schema.Field{Name: "px", Kind: schema.I32, Scale: 2},
	schema.Field{Name: "qty", Kind: schema.I32},
	schema.Field{Name: "sym", Kind: schema.U16},
	schema.Field{Name: "side", Kind: schema.U8},
	schema.Field{Name: "not", Kind: schema.U8},
	schema.Field{Name: "1m", Kind: schema.U64},
))

// TestParseWhere compares what is read with the same condition made in Go.
func TestParseWhere(t *testing.T) {
	for text, want := range map[string]Pred{
		"":                                    {},
		" \t\n":                               {},
		"sym == 3 && px >= 64000.00":          And(Eq("sym", "3"), Ge("px", "64000.00")),
		"sym==3&&px>=-1":                      And(Eq("sym", "3"), Ge("px", "-1")),
		"side in [0, 1,2]":                    In("side", "0", "1", "2"),
		"side in []":                          In[string]("side"),
		"side not in [ 1 ]":                   Not(In("side", "1")),
		"px between 1 and 2.5":                Between("px", "1", "2.5"),
		"px NOT BETWEEN 1 AND 2 AND sym <> 4": And(Not(Between("px", "1", "2")), Ne("sym", "4")),
		"!(sym == 1 or sym == 2)":             Not(Or(Eq("sym", "1"), Eq("sym", "2"))),
		"!!sym == 1":                          Not(Not(Eq("sym", "1"))),
		"not sym == 1 and qty > 2":            And(Not(Eq("sym", "1")), Gt("qty", "2")),
		"sym == 1 or qty > 2 and px < 3":      Or(Eq("sym", "1"), And(Gt("qty", "2"), Lt("px", "3"))),
		"not == 1 && not not in [2]":          And(Eq("not", "1"), Not(In("not", "2"))),
		"1m <= 18446744073709551615":          Le("1m", "18446744073709551615"),
		"seq >= 7 && ts < 2026-11-29T10:00:00.5+01:00": And(Ge("seq", "7"), Lt("ts", "2026-11-29T10:00:00.5+01:00")),
		"ts == '2026-11-29'":                           Eq("ts", "2026-11-29"),
		"ts >= 1791800000000000us":                     Ge("ts", "1791800000000000us"),
	} {
		got, err := ParseWhere(fillLike, text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got.String() != want.String() {
			t.Errorf("%q read as %v, want %v", text, got, want)
		}
		again, err := ParseWhere(fillLike, got.String())
		if err != nil || again.String() != got.String() {
			t.Errorf("%q printed as %q, read again as %v, %v", text, got, again, err)
		}
	}
}

// TestParseWhereErrors: the place of every mistake, in bytes from 0.
func TestParseWhereErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		pos  int
		msg  string
	}{
		{"sym", 3, "want a comparison of sym, found the end"},
		{"sym == ", 7, "want a value for sym, found the end"},
		{"sym = 3", 4, `write "=="`},
		{"symbol == 3", 0, `there is no field "symbol"; there are seq, ts, px, qty`},
		{"sym == 3 px == 4", 9, `want && or ||, found "px"`},
		{"sym == 3 &", 9, `"&" has no meaning here`},
		{"sym == µ", 7, `"µ" has no meaning here`},
		{"(sym == 3", 9, `want ")" to close the bracket, found the end`},
		{"sym == 3)", 8, `found ")"`},
		{"px == 1.234", 6, "px has 2 decimals"},
		{"qty == 1.5", 7, "qty has no decimals"},
		{"sym == abc", 7, `found "abc"`},
		{"sym == 1e5", 7, "wants a number"},
		{"sym == 'x'", 7, "wants a number"},
		{"sym == '1", 7, "the quote is not closed"},
		{"3 == sym", 0, "write the field first"},
		{"sym in 3", 7, `want "[" before the values of sym`},
		{"sym in [1 2]", 10, `want ","`},
		{"sym in [1,]", 10, "want a value for sym"},
		{"sym not == 3", 8, "want in or between after not"},
		{"px between 1 or 2", 13, "want and between the bounds of px"},
		{"ts == 2026-13-01T00:00:00Z", 6, "is not a time"},
		{"ts == 5h", 6, "is not a time"},
		{"ts >= 1791800000000000000000", 6, "fits 64 bits"},
		{"ts >= -5", 6, "outside 1970–2200"},
		{strings.Repeat("(", 200) + "sym == 1", 100, "nested deeper"},
		{"!", 1, "want a field, found the end"},
		{"sym == 3 && ", 12, "want a field, found the end"},
	} {
		_, err := ParseWhere(fillLike, c.text)
		e, ok := errors.AsType[*SyntaxError](err)
		if !ok || !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v, want a SyntaxError", c.text, err)
			continue
		}
		if e.Pos != c.pos || !strings.Contains(e.Msg, c.msg) || e.Text != c.text {
			t.Errorf("%q: at %d %q, want at %d something with %q", c.text, e.Pos, e.Msg, c.pos, c.msg)
		}
	}
}

func TestParseSelect(t *testing.T) {
	got, err := ParseSelect(fillLike, "count(), sum(qty) as volume,VWAP(px, qty), count, count(*), max(ts), notional(px,qty)")
	want := []string{"count", "volume", "vwap(px,qty)", "count", "count", "max(ts)", "notional(px,qty)"}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for i, a := range got {
		if a.String() != want[i] {
			t.Errorf("%d: %v, want %s", i, a, want[i])
		}
	}
	for _, c := range []struct {
		text string
		pos  int
		msg  string
	}{
		{"", 0, "want one of count sum"},
		{"summe(qty)", 0, `found "summe"`},
		{"sum qty", 4, `want "("`},
		{"sum()", 4, "want a field for sum"},
		{"sum(nosuch)", 4, "no field"},
		{"vwap(px)", 7, "second field"},
		{"sum(px", 6, `want ")"`},
		{"sum(px) sum(qty)", 8, "want a comma"},
		{"sum(px),", 8, "want one of"},
		{"sum(px) as", 10, "want a name"},
	} {
		_, err := ParseSelect(fillLike, c.text)
		e, ok := errors.AsType[*SyntaxError](err)
		if !ok || e.Pos != c.pos || !strings.Contains(e.Msg, c.msg) {
			t.Errorf("%q: %v, want column %d: %s", c.text, err, c.pos+1, c.msg)
		}
	}
}

// symbols are texts of fillLike's sym; number n is symbols[n-1].
type symbols []string

func (x symbols) Has(field string) bool { return field == "sym" }

func (x symbols) Number(_, text string) (uint64, bool) {
	i := slices.Index(x, text)
	return uint64(i + 1), i >= 0
}

// unquoted prints a condition so that values read and made in Go look the same.
func unquoted(p Pred) string { return strings.ReplaceAll(p.String(), "'", "") }

// TestParseWhereTexts: a text in quotes is its number, where a field has texts.
func TestParseWhereTexts(t *testing.T) {
	texts := symbols{"BTC-USD", "a'b", "7", "ü", ""}
	for text, want := range map[string]Pred{
		`sym == "BTC-USD"`:                  Eq("sym", 1),
		`sym != 'BTC-USD' && px > '1.5'`:    And(Ne("sym", 1), Gt("px", "1.5")),
		`!(sym in ["a'b", 'ü', 9, ''])`:     Not(In("sym", 2, 4, 9, 5)),
		`sym not in ["BTC-USD"] || qty < 1`: Or(Not(In("sym", 1)), Lt("qty", 1)),
		`sym == '7'`:                        Eq("sym", 3), // the text
		`sym == 7`:                          Eq("sym", 7), // the number
		`sym == '8'`:                        Eq("sym", 8), // as it prints where it has no text
		`sym between 1 and '8'`:             Between("sym", 1, 8),
		`sym <= 2`:                          Le("sym", 2),
	} {
		got, err := ParseWhereTexts(fillLike, text, texts)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if unquoted(got) != unquoted(want) {
			t.Errorf("%s read as %v, want %v", text, got, want)
		}
	}
	for _, c := range []struct {
		text string
		pos  int
		msg  string
	}{
		{`sym == "BTC-EUR"`, 7, "sym has no text 'BTC-EUR'"},
		{`sym == "btc-usd"`, 7, "sym has no text"},
		{`qty > 1 && sym in ['BTC-USD', 'x']`, 30, "sym has no text 'x'"},
		{`sym > "BTC-USD"`, 6, "no order"},
		{`sym between 1 and "BTC-USD"`, 18, "no order"},
		{`sym == BTC`, 7, `found "BTC": texts stand in quotes`},
		{`sym == `, 7, "found the end"},
		{`sym == '99999'`, 0, ""},
		{`sym == "BTC-USD`, 7, "the quote is not closed"},
		{`side == "BTC-USD"`, 8, "wants a number"},
		{`sym == '1.5'`, 7, "sym has no text '1.5'"},
	} {
		_, err := ParseWhereTexts(fillLike, c.text, texts)
		if c.msg == "" {
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		e, ok := errors.AsType[*SyntaxError](err)
		if !ok || e.Pos != c.pos || !strings.Contains(e.Msg, c.msg) {
			t.Errorf("%s: %v, want column %d: %s", c.text, err, c.pos+1, c.msg)
		}
	}
	if _, err := ParseWhere(fillLike, `sym == "BTC-USD"`); !isInvalid(err) || !strings.Contains(err.Error(), "wants a number") {
		t.Errorf("a text without texts: %v", err)
	}
}

// FuzzParse: whatever the text, the parsers give a condition that prints as one
// that means the same, or an error with a place inside the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"sym == 3 && px >= 64000.00", "!(side in [0,1]) or px not between -1 and +2.5", "ts > 2026-11-29T10:00:00Z",
		"count(), sum(qty) as v", "vwap(px,qty)", "sym == '3", "((((", "not not not == 1", "1m<2", "ts==5ms", "\xff", "a.b", "sym in ['a', \"b c\", '7', '9']",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		place := func(err error) {
			if e, ok := errors.AsType[*SyntaxError](err); !ok || e.Pos < 0 || e.Pos > len(text) {
				t.Fatalf("%q: %v: not a SyntaxError with a place in the text", text, err)
			}
		}
		p, err := ParseWhere(fillLike, text)
		if err != nil {
			place(err)
		} else if again, err := ParseWhere(fillLike, p.String()); err != nil || again.String() != p.String() {
			t.Fatalf("%q printed as %q, read again as %v, %v", text, p, again, err)
		}
		if p, err := ParseWhereTexts(fillLike, text, symbols{"a", "b c", "7"}); err != nil {
			place(err)
		} else if again, err := ParseWhere(fillLike, p.String()); err != nil || unquoted(again) != unquoted(p) {
			t.Fatalf("%q with texts printed as %q, read again as %v, %v", text, p, again, err)
		}
		if _, err := ParseSelect(fillLike, text); err != nil {
			place(err)
		}
	})
}
