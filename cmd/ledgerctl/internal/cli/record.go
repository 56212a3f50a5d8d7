package cli

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// Columns that every record has, beside its fields' numbers.
const (
	columnSeq  = -2
	columnTime = segment.TimeField
)

// recordFlags are those of verbs that print records.
type recordFlags struct {
	listFlags
	columns []string
}

func (f *recordFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "print this `list` of columns, in this order, as in ts,px,qty (all)")
	f.addFormat(cmd)
	f.addRaw(cmd, rawRecords)
	completeWith(cmd, "columns", completeColumns)
}

// A recordColumn is one column of printed records.
type recordColumn struct {
	column int // a field's number, columnTime or columnSeq
	field  schema.Field
}

// A recordPrinter writes records of one schema to a listing.
type recordPrinter struct {
	w       listing.Writer
	columns []recordColumn
	row     listing.Row
	clock   *value.Clock // nil with raw values
	names   *names       // nil with raw values
	symbol  *strided     // the symbols of the block at hand, where they have decimals of their own
}

// newPrinter begins a listing of records. A column that isn't there is a usage error.
func (a *app) newPrinter(f *recordFlags, s *schema.Schema) (*recordPrinter, error) {
	columns, err := chooseColumns(s, f.columns, f.rawValues)
	if err != nil {
		return nil, err
	}
	p := &recordPrinter{columns: columns}
	if !f.rawValues {
		p.clock = value.NewClock(s.Unit())
		if p.names, err = openNames(a.stream); err != nil {
			return nil, &hintedError{err, "with --raw-values numbers are printed as they are stored"}
		}
	}
	heads := make([]listing.Column, len(columns))
	for i, c := range columns {
		heads[i] = c.head(f.rawValues)
		if p.names.has(c) {
			heads[i].Kind = listing.Text
		}
	}
	p.w = a.listing(&f.listFlags, heads)
	return p, nil
}

func chooseColumns(s *schema.Schema, names []string, raw bool) ([]recordColumn, error) {
	all := []recordColumn{{columnSeq, schema.Field{Name: "seq"}}, {columnTime, schema.Field{Name: "ts"}}}
	for i, f := range s.Fields() {
		if raw {
			f.Scale = 0
		}
		all = append(all, recordColumn{i, f})
	}
	if len(names) == 0 {
		return all, nil
	}
	var chosen []recordColumn
next:
	for _, name := range names {
		for _, c := range all {
			if c.field.Name == strings.TrimSpace(name) {
				chosen = append(chosen, c)
				continue next
			}
		}
		var have []string
		for _, c := range all {
			have = append(have, c.field.Name)
		}
		return nil, usagef("no column %q in this stream; it has %s", name, strings.Join(have, ", "))
	}
	return chosen, nil
}

func (c recordColumn) head(raw bool) listing.Column {
	h := listing.Column{Name: c.field.Name, Kind: listing.Number}
	switch {
	case c.column == columnTime && !raw:
		h.Kind = listing.Time
	case c.column < 0, c.field.Scale > 0, c.field.Kind.Size() == 8:
		h.Kind = listing.Exact
	}
	return h
}

// print writes the records of g at the given positions. The columns are checked
// when they are first touched; a caller that isn't sure of the file guards it.
func (p *recordPrinter) print(g segment.Segment, at []uint32) error {
	cells := make([]strided, len(p.columns))
	for i, c := range p.columns {
		if c.column == columnSeq {
			continue
		}
		base, stride, kind, err := g.Raw(c.column)
		if err != nil {
			return err
		}
		cells[i] = strided{base, stride, kind}
	}
	if err := p.symbols(g); err != nil {
		return err
	}
	for _, k := range at {
		p.row.Reset()
		for i, c := range p.columns {
			switch {
			case c.column == columnSeq:
				p.row.Buf = strconv.AppendUint(p.row.Buf, g.First()+uint64(k), 10)
			case c.column == columnTime && p.clock != nil:
				p.row.Buf = p.clock.Append(p.row.Buf, cells[i].at(int(k)))
			case c.column == columnTime:
				p.row.Buf = strconv.AppendInt(p.row.Buf, cells[i].at(int(k)), 10)
			case p.names.has(c):
				p.row.Buf = p.names.append(p.row.Buf, c, cells[i].at(int(k)))
			default:
				p.row.Buf = c.field.AppendValue(p.row.Buf, cells[i].at(int(k)))
				if p.symbol != nil && c.field.Scale > 0 {
					p.row.Buf = trim(p.row.Buf, c.field.Scale, p.names.decimals(c.field, uint64(p.symbol.at(int(k)))))
				}
			}
			p.row.End()
		}
		if err := p.w.Write(&p.row); err != nil {
			return err
		}
	}
	return nil
}

// symbols finds the symbols of a block, if prices or quantities are printed that
// have decimals by symbol.
func (p *recordPrinter) symbols(g segment.Segment) error {
	p.symbol = nil
	field, ok := g.Schema().Index(dictionary.SymbolField)
	if !ok || p.names == nil || !p.names.d.Has(dictionary.SymbolField) {
		return nil
	}
	for _, c := range p.columns {
		if c.field.Scale > 0 && bySymbol(c.field.Name) {
			base, stride, kind, err := g.Raw(field)
			p.symbol = &strided{base, stride, kind}
			return err
		}
	}
	return nil
}

// A strided is a column's bytes.
type strided struct {
	base   []byte
	stride int
	kind   schema.Kind
}

// at returns value i, sign-extended to 64 bits if its kind is signed.
func (s strided) at(i int) int64 {
	b := s.base[i*s.stride:]
	switch s.kind {
	case schema.I8:
		return int64(int8(b[0]))
	case schema.U8:
		return int64(b[0])
	case schema.I16:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case schema.U16:
		return int64(binary.LittleEndian.Uint16(b))
	case schema.I32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case schema.U32:
		return int64(binary.LittleEndian.Uint32(b))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// parseSeq reads a sequence number.
func parseSeq(s string) (uint64, error) {
	seq, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a sequence number, which is a whole number from 0", s)
	}
	return seq, nil
}
