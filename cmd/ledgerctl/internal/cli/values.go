package cli

import (
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/query"
	"example.com/ledger/schema"
)

// A valueColumn is a column of results: what query says of it, and more.
type valueColumn struct {
	query.Column
	key   *recordColumn // that groups are made by; nil for an aggregate
	count bool          // of records
}

// A valuePrinter writes a query's results to a listing.
type valuePrinter struct {
	w       listing.Writer
	columns []valueColumn
	row     listing.Row
	raw     bool
	clock   *value.Clock // nil with raw values
	names   *names       // nil with raw values
}

// newValuePrinter begins a listing of results.
func (a *app) newValuePrinter(l *listFlags, u schema.Unit, columns []valueColumn) (*valuePrinter, error) {
	p := &valuePrinter{columns: columns, raw: l.rawValues}
	if !p.raw {
		p.clock = value.NewClock(u)
		var err error
		if p.names, err = openNames(a.stream); err != nil {
			return nil, &hintedError{err, "with --raw-values numbers are printed as they are stored"}
		}
	}
	heads := make([]listing.Column, len(columns))
	for i, c := range columns {
		heads[i] = listing.Column{Name: c.Name, Kind: p.kind(c)}
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
func (p *valuePrinter) named(c valueColumn) bool { return c.key != nil && p.names.has(*c.key) }

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
			return p.names.append(b, *c.key, int64(n))
		}
	}
	return v.Append(b)
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
