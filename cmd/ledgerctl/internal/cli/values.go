package cli

import (
	"slices"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/query"
	"example.com/ledger/schema"
)

// A valueColumn is a column of results: what query says of it, and more.
type valueColumn struct {
	query.Column
	// fields are those whose values, sums or products it holds: one for each
	// factor. A count and an average have none.
	fields []recordColumn
	count  bool // of records
}

// A valuePrinter writes a query's results to a listing.
type valuePrinter struct {
	w       listing.Writer
	columns []valueColumn
	row     listing.Row
	raw     bool
	clock   *value.Clock // nil with raw values
	names   *names       // nil with raw values

	// Where all records of a row have one symbol, prices and quantities are shown
	// with its decimals.
	symbolKey int    // which of the keys is the symbol; −1 if none is
	symbol    uint64 // of the row at hand
	oneSymbol bool   // there is one
}

// newValuePrinter begins a listing of results.
func (a *app) newValuePrinter(l *listFlags, u schema.Unit, columns []valueColumn) (*valuePrinter, error) {
	p := &valuePrinter{columns: columns, raw: l.rawValues, symbolKey: -1}
	if !p.raw {
		p.clock = value.NewClock(u)
		var err error
		if p.names, err = openNames(a.stream); err != nil {
			return nil, &hintedError{err, "with --raw-values numbers are printed as they are stored"}
		}
	}
	heads := make([]listing.Column, len(columns))
	for i, c := range columns {
		heads[i] = listing.Column{Name: c.Name, Kind: p.kind(c), Null: true}
	}
	p.w = a.listing(l, heads)
	return p, nil
}

func (p *valuePrinter) kind(c valueColumn) listing.Kind {
	switch {
	case c.Time && !p.raw:
		return listing.Time
	case p.named(c):
		return listing.Text
	case c.count, c.Kind != 0 && c.Kind.Size() < 8 && (p.raw || c.Scale == 0):
		return listing.Number
	}
	return listing.Exact
}

// named tells whether a column's numbers stand for texts.
func (p *valuePrinter) named(c valueColumn) bool {
	return c.Kind != 0 && len(c.fields) == 1 && p.names.has(c.fields[0])
}

// cell adds the next cell of the row.
func (p *valuePrinter) cell(v query.Value) {
	c := p.columns[p.row.Len()]
	p.row.Buf = p.append(p.row.Buf, c, v)
	p.row.End()
}

func (p *valuePrinter) append(b []byte, c valueColumn, v query.Value) []byte {
	switch {
	case p.raw:
		return v.AppendRaw(b)
	case c.Time:
		if ts, ok := v.Int64(); ok {
			return p.clock.Append(b, ts)
		}
	case p.named(c):
		if n, ok := v.Uint64(); ok {
			return p.names.append(b, c.fields[0], int64(n))
		}
	}
	if b = v.Append(b); !v.IsNull() {
		b = trim(b, v.Digits(), p.decimals(c, v.Digits()))
	}
	return b
}

// decimals returns how many a column's values have in the row at hand, at most
// those that they are given with.
func (p *valuePrinter) decimals(c valueColumn, given uint8) uint8 {
	if !p.oneSymbol || len(c.fields) == 0 || p.raw {
		return given
	}
	var n uint8
	for _, f := range c.fields {
		n += p.names.decimals(f.field, p.symbol)
	}
	return n
}

// symbols makes known what tells the symbol of a row: its keys, or else the
// condition that holds for all records.
func (p *valuePrinter) symbols(keys []recordColumn, holds query.Pred) {
	p.symbolKey = slices.IndexFunc(keys, func(k recordColumn) bool { return k.field.Name == dictionary.SymbolField })
	if p.symbolKey < 0 {
		p.symbol, p.oneSymbol = onlySymbol(holds)
	}
}

// begin begins a row with the keys that key returns.
func (p *valuePrinter) begin(key func(int) query.Value) {
	if p.symbolKey >= 0 {
		p.symbol, p.oneSymbol = key(p.symbolKey).Uint64()
	}
}

// time adds a time as the next cell of the row.
func (p *valuePrinter) time(ts int64) {
	if p.raw {
		p.row.Int(ts)
		return
	}
	p.row.Buf = p.clock.Append(p.row.Buf, ts)
	p.row.End()
}

// end writes the row and begins another.
func (p *valuePrinter) end() error {
	err := p.w.Write(&p.row)
	p.row.Reset()
	return err
}
