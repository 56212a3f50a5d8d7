package query

import (
	"strings"

	"example.com/ledger/schema"
)

// An Agg is one number that a query makes of many records. The zero Agg counts.
type Agg struct {
	fn   fn
	a, b string // fields
	name string // set by As
	pos  int    // in the text it was parsed from
	posA int
	posB int
}

type fn uint8

const (
	fnCount fn = iota
	fnSum
	fnMin
	fnMax
	fnFirst
	fnLast
	fnAvg
	fnVWAP
	fnNotional
)

var fnNames = [...]string{"count", "sum", "min", "max", "first", "last", "avg", "vwap", "notional"}

// fields returns how many fields the function takes.
func (f fn) fields() int {
	switch f {
	case fnCount:
		return 0
	case fnVWAP, fnNotional:
		return 2
	}
	return 1
}

// Count counts the records.
func Count() Agg { return Agg{} }

// Sum adds up a field, exactly. The sum of nothing is 0.
func Sum(field string) Agg { return Agg{fn: fnSum, a: field} }

// Min finds the smallest value of a field; null if there are no records.
func Min(field string) Agg { return Agg{fn: fnMin, a: field} }

// Max finds the largest value of a field; null if there are no records.
func Max(field string) Agg { return Agg{fn: fnMax, a: field} }

// First takes a field of the record with the lowest number; null if there is none.
func First(field string) Agg { return Agg{fn: fnFirst, a: field} }

// Last takes a field of the record with the highest number; null if there is none.
func Last(field string) Agg { return Agg{fn: fnLast, a: field} }

// Avg divides the sum of a field by the count: exactly, rounded when printed.
func Avg(field string) Agg { return Agg{fn: fnAvg, a: field} }

// VWAP is the average price weighted with the quantity: the sum of their products
// divided by the sum of the quantities. It is exact, rounded when printed, and
// null if the quantities add up to 0.
func VWAP(price, quantity string) Agg { return Agg{fn: fnVWAP, a: price, b: quantity} }

// Notional adds up the products of price and quantity, exactly. Its scale is the
// sum of theirs.
func Notional(price, quantity string) Agg { return Agg{fn: fnNotional, a: price, b: quantity} }

// As names the result's column; else it is what String returns.
func (a Agg) As(name string) Agg {
	a.name = name
	return a
}

// String returns the column's name: "vwap(px,qty)", or what As said.
func (a Agg) String() string {
	if a.name != "" {
		return a.name
	}
	s := fnNames[a.fn]
	switch a.fn.fields() {
	case 1:
		s += "(" + a.a + ")"
	case 2:
		s += "(" + a.a + "," + a.b + ")"
	}
	return s
}

// ParseSelect reads a list of aggregates such as "count(), sum(qty) as volume,
// vwap(px,qty)". The functions are count sum min max first last avg vwap and
// notional. The error is a *SyntaxError with the place of what is wrong, unknown
// fields included.
func ParseSelect(s *schema.Schema, text string) ([]Agg, error) {
	a, err := parseSelect(s, text)
	return a, inText(err, text)
}

func parseSelect(s *schema.Schema, text string) ([]Agg, error) {
	toks, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{s: s, toks: toks}
	var out []Agg
	for {
		a, err := p.agg()
		if err != nil {
			return nil, err
		}
		out = append(out, a)
		if t := p.next(); t.kind == tokEnd {
			return out, nil
		} else if !t.is(",") {
			return nil, badAt(t.pos, "want a comma, found %v", t)
		}
	}
}

func (p *parser) agg() (Agg, error) {
	t := p.next()
	a := Agg{pos: t.pos}
	found := false
	for i, name := range fnNames {
		if t.word(name) {
			a.fn, found = fn(i), true
		}
	}
	if !found {
		return Agg{}, badAt(t.pos, "want one of %s, found %v", strings.Join(fnNames[:], " "), t)
	}
	if err := p.arguments(&a); err != nil {
		return Agg{}, err
	}
	if p.peek().word("as") {
		p.next()
		t := p.next()
		if t.kind != tokWord && t.kind != tokString || t.text == "" {
			return Agg{}, badAt(t.pos, "want a name after as, found %v", t)
		}
		a.name = t.text
	}
	return a, nil
}

// arguments reads the fields in brackets; count may have none of either.
func (p *parser) arguments(a *Agg) error {
	if a.fn == fnCount {
		if p.take("(") {
			p.take("*")
			return p.want(")", "after count(")
		}
		return nil
	}
	if err := p.want("(", "after "+fnNames[a.fn]); err != nil {
		return err
	}
	for i := range a.fn.fields() {
		if i > 0 {
			if err := p.want(",", "and a second field for "+fnNames[a.fn]); err != nil {
				return err
			}
		}
		t := p.next()
		if t.kind != tokWord && t.kind != tokValue {
			return badAt(t.pos, "want a field for %s, found %v", fnNames[a.fn], t)
		}
		if _, err := lookup(p.s, t.text, t.pos); err != nil {
			return err
		}
		if i == 0 {
			a.a, a.posA = t.text, t.pos
		} else {
			a.b, a.posB = t.text, t.pos
		}
	}
	return p.want(")", "after the fields of "+fnNames[a.fn])
}
