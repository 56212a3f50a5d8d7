package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/schema"
)

// timeField stands for ts among the numbers of fields.
const timeField = -1

// A binding is a rule whose column and field are found.
type binding struct {
	rule        Rule
	from, other int // columns; −1 for none
	field       int // or timeField
	f           schema.Field
}

// A rowReader makes records of an input's rows.
type rowReader struct {
	in       *input
	src      io.ReadCloser
	all      io.Reader // src, with hash
	hash     hash.Hash
	table    table
	schema   *schema.Schema
	bindings []binding
	only     int // column of Preset.Only; −1 for none
	onlyAt   []string
	env      env
	cell     cell
	steps    *dictionary.Steps // nil where the stream has no prices by symbol

	rejects  io.Writer
	rejected uint64
	skipped  uint64
	mapping  string // what the records are made by
	unused   []string
	unfilled []string
}

// open begins to read an input. Texts get their numbers from d.
func (im *importer) open(in *input, d *dictionary.Dictionary) (*rowReader, error) {
	r := &rowReader{in: in, schema: im.schema, hash: sha256.New(), only: -1, rejects: im.o.Rejects}
	src, err := in.open()
	if err != nil {
		return nil, err
	}
	r.src, r.all = src, io.TeeReader(src, r.hash)
	if err := r.begin(im.o, d); err != nil {
		src.Close()
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	return r, nil
}

func (r *rowReader) begin(o Options, d *dictionary.Dictionary) (err error) {
	p := o.Preset
	symbol, date := p.fromName(r.in.base)
	if o.Symbol != "" {
		symbol = o.Symbol
	}
	if o.Date != "" {
		date = o.Date
	}
	zone := o.Zone
	if zone == nil {
		if zone, err = time.LoadLocation(p.Zone); err != nil {
			return err
		}
	}
	r.env = env{dict: d, symbol: symbol}
	if r.env.clock, err = newClock(r.schema.Unit(), zone, date); err != nil {
		return err
	}
	r.mapping = p.fingerprint(symbol, date, zone.String(), r.schema)
	if r.table, err = newTable(r.all, p, r.schema); err != nil {
		return err
	}
	r.steps = dictionary.NewSteps(r.schema, d)
	return r.bind(p)
}

func newTable(in io.Reader, p Preset, s *schema.Schema) (table, error) {
	switch p.Format.Form {
	case JSON:
		return newJSON(in, p.wanted(s)), nil
	case DBNTrades:
		return newDBN(in, dbnTradeType)
	case DBNOrders:
		return newDBN(in, dbnOrderType)
	}
	return newCSV(in, p.Format)
}

// bind finds the column and the field of each rule.
func (r *rowReader) bind(p Preset) error {
	columns := r.table.columns()
	rules := slices.Clone(p.Rules)
	for _, f := range r.schema.Fields() {
		if p.same(f.Name) && slices.Contains(columns, f.Name) {
			rules = append(rules, Rule{To: f.Name, From: f.Name, As: Decimal()})
		}
	}
	column := func(name string) (int, error) {
		i := slices.Index(columns, name)
		switch {
		case name == "":
			return -1, nil
		case i < 0:
			return 0, fmt.Errorf("no column %q; it has %s", name, strings.Join(columns, ", "))
		case slices.Contains(columns[i+1:], name):
			return 0, fmt.Errorf("the column %q stands twice", name)
		}
		return i, nil
	}
	used, filled := map[int]bool{}, map[string]bool{}
	for _, rule := range rules {
		b := binding{rule: rule, field: timeField, f: schema.Field{Name: "ts", Kind: schema.I64}}
		if rule.To != "ts" {
			i, ok := r.schema.Index(rule.To)
			if !ok && rule.Must {
				return fmt.Errorf("the stream has no field %q; it has %s", rule.To, r.schema)
			}
			if !ok {
				continue // the report says so
			}
			b.field, b.f = i, r.schema.Field(i)
		}
		var err, err2 error
		b.from, err = column(rule.From)
		b.other, err2 = column(rule.As.other)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		used[b.from], used[b.other], filled[rule.To] = true, true, true
		r.bindings = append(r.bindings, b)
	}
	if !filled["ts"] {
		return errors.New("nothing fills ts, the records' time: name its column with --time-column")
	}
	if len(filled) == 1 && r.schema.NumFields() > 0 {
		return fmt.Errorf("no column goes into a field; the stream has %s, the file %s", r.schema, strings.Join(columns, ", "))
	}
	if p.Only.Column != "" {
		i, err := column(p.Only.Column)
		if err != nil {
			return err
		}
		r.only, r.onlyAt, used[i] = i, p.Only.Values, true
	}
	for i, name := range columns {
		if !used[i] {
			r.unused = append(r.unused, name)
		}
	}
	for _, f := range r.schema.Fields() {
		if !filled[f.Name] {
			r.unfilled = append(r.unfilled, f.Name)
		}
	}
	return nil
}

// next fills rec with the next good row. io.EOF says that there is none.
func (r *rowReader) next(rec []byte) error {
	for {
		cells, err := r.table.next()
		var bad *badRow
		if err != nil && !errors.As(err, &bad) {
			if err != io.EOF {
				err = fmt.Errorf("%s: %w", r.in.name, err)
				r.src.Close()
				return err
			}
			if d, ok := r.table.(*dbnTable); ok {
				r.skipped = d.passed
			}
			if err := r.end(); err != nil {
				return fmt.Errorf("%s: %w", r.in.name, err)
			}
			return io.EOF
		}
		if err == nil && r.only >= 0 && !slices.Contains(r.onlyAt, cells[r.only]) {
			r.skipped++
			continue
		}
		var wrong *RowError
		if err != nil {
			wrong = &RowError{Err: bad.err}
		} else if wrong = r.record(rec, cells); wrong == nil {
			return nil
		}
		wrong.File, wrong.Row, wrong.Place, wrong.Text = r.in.name, r.table.row(), r.place(), shorten(wrong.Text)
		if r.rejects == nil {
			r.src.Close()
			return wrong
		}
		if err := r.reject(wrong); err != nil {
			r.src.Close()
			return err
		}
	}
}

func (r *rowReader) place() string {
	if _, ok := r.table.(*dbnTable); ok {
		return "record"
	}
	return "line"
}

// end reads what is behind the last row, so that the hash is that of all bytes.
func (r *rowReader) end() error {
	_, err := io.Copy(io.Discard, r.all)
	return errors.Join(err, r.src.Close())
}

// sum is the SHA-256 of the whole input, in hex, after the last row.
func (r *rowReader) sum() string { return hex.EncodeToString(r.hash.Sum(nil)) }

// record fills rec from a row's cells.
func (r *rowReader) record(rec []byte, cells []string) *RowError {
	clear(rec)
	c := &r.cell
	c.env = &r.env
	for i := range r.bindings {
		b := &r.bindings[i]
		c.text, c.other, c.field = "", "", b.f
		if b.from >= 0 {
			c.text = cells[b.from]
		}
		if b.other >= 0 {
			c.other = cells[b.other]
		}
		v, err := b.rule.As.do(c)
		if err == nil {
			if b.field == timeField {
				schema.PutTime(rec, v)
			} else {
				err = r.schema.PutBits(rec, b.field, v)
			}
		}
		if err != nil {
			return &RowError{Column: b.rule.From, Text: c.text, Err: err}
		}
	}
	if r.steps != nil {
		if err := r.steps.See(rec); err != nil {
			return &RowError{Column: r.columnOf("px"), Err: err}
		}
	}
	return nil
}

func (r *rowReader) columnOf(field string) string {
	for _, b := range r.bindings {
		if b.rule.To == field {
			return b.rule.From
		}
	}
	return ""
}

// reject sets a row aside.
func (r *rowReader) reject(e *RowError) error {
	r.rejected++
	b, err := json.Marshal(struct {
		File   string `json:"file"`
		Row    int    `json:"row"`
		Column string `json:"column,omitempty"`
		Error  string `json:"error"`
		Text   string `json:"text"`
	}{e.File, e.Row, e.Column, e.reason(), string(r.table.text())})
	if err == nil {
		_, err = r.rejects.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("rejects: %w", err)
	}
	return nil
}
