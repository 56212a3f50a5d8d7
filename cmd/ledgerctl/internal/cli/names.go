package cli

import (
	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
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

// trim cuts zeros off the decimal at the end of b, a price or quantity
// of a symbol, down to the decimals that the symbol has. Nothing else is cut, so
// that the value stays what it is.
func (n *names) trim(b []byte, c recordColumn, symbol uint64) []byte {
	if !bySymbol(c.field.Name) {
		return b
	}
	if _, ok := n.d.Text(dictionary.SymbolField, symbol); !ok {
		return b
	}
	e := n.d.Entry(dictionary.SymbolField, symbol)
	decimals := e.PxScale
	if c.field.Name == dictionary.QuantityField {
		decimals = e.QtyScale
	}
	left := c.field.Scale
	for ; left > decimals && b[len(b)-1] == '0'; left-- {
		b = b[:len(b)-1]
	}
	if left == 0 {
		b = b[:len(b)-1] // the point
	}
	return b
}
