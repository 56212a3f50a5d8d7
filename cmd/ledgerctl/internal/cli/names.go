package cli

import (
	"strconv"
	"strings"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/query"
	"example.com/ledger/schema"
)

// names are the texts that numbers of a stream stand for. nil has none.
type names struct {
	dir   string
	d     *dictionary.Dictionary
	tried uint64 // the highest number for which the dictionary was read again
}

func openNames(dir string) (*names, error) {
	d, err := dictionary.Open(dir)
	if err != nil {
		return nil, err
	}
	return &names{dir: dir, d: d}, nil
}

// has tells whether a column's numbers stand for texts.
func (n *names) has(c recordColumn) bool {
	return n != nil && c.column >= 0 && n.d.Has(c.field.Name)
}

// append appends the text of a number; one that has none stays a number. A writer
// may have given it one since the dictionary was read, so that is read again.
func (n *names) append(b []byte, c recordColumn, v int64) []byte {
	text, ok := n.d.Text(c.field.Name, uint64(v))
	if !ok && uint64(v) > n.tried {
		n.tried = uint64(v)
		if d, err := dictionary.Open(n.dir); err == nil {
			n.d = d
			text, ok = d.Text(c.field.Name, uint64(v))
		}
	}
	if ok {
		return append(b, text...)
	}
	return c.field.AppendValue(b, v)
}

// bySymbol tells whether a dictionary has a field's decimals for each symbol.
func bySymbol(field string) bool {
	return field == dictionary.PriceField || field == dictionary.QuantityField
}

// decimals returns how many a field's values have in records of a symbol, and
// those of its schema where the dictionary doesn't tell.
func (n *names) decimals(f schema.Field, symbol uint64) uint8 {
	if !bySymbol(f.Name) {
		return f.Scale
	}
	if _, ok := n.d.Text(dictionary.SymbolField, symbol); !ok {
		return f.Scale
	}
	e := n.d.Entry(dictionary.SymbolField, symbol)
	if f.Name == dictionary.QuantityField {
		return min(e.QtyScale, f.Scale)
	}
	return min(e.PxScale, f.Scale)
}

// trim cuts zeros off the number at the end of b, which has that many decimals,
// down to those that are wanted. Nothing else is cut, so that the value stays
// what it is.
func trim(b []byte, decimals, wanted uint8) []byte {
	if decimals == 0 || wanted >= decimals {
		return b
	}
	for ; decimals > wanted && b[len(b)-1] == '0'; decimals-- {
		b = b[:len(b)-1]
	}
	if decimals == 0 {
		b = b[:len(b)-1] // the point
	}
	return b
}

// onlySymbol returns the symbol whose records alone a condition holds for, where
// it says so: sym == n by itself, or joined to the rest by &&.
func onlySymbol(p query.Pred) (n uint64, ok bool) {
	var outer strings.Builder // what stands in no brackets
	depth := 0
	for _, c := range p.String() {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0:
			outer.WriteRune(c)
		}
	}
	if strings.Contains(outer.String(), " || ") {
		return 0, false
	}
	for term := range strings.SplitSeq(outer.String(), " && ") {
		if v, is := strings.CutPrefix(term, dictionary.SymbolField+" == "); is {
			if n, err := strconv.ParseUint(strings.Trim(v, "'"), 10, 64); err == nil {
				return n, true
			}
		}
	}
	return 0, false
}
