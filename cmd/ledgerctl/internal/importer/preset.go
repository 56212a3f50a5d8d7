package importer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/ledger/schema"
	"example.com/ledger/shapes"
)

// A Form is the syntax of a file.
type Form uint8

// The forms.
const (
	CSV       Form = iota // a line a row, cells between commas
	JSON                  // an object a line
	DBNTrades             // trades of Databento Binary Encoding, versions 1 to 3
	DBNOrders             // its market-by-order messages
)

// A Format says how rows are to be cut into cells.
type Format struct {
	Form     Form
	Comma    string   // between cells; "" is a comma
	Columns  []string // names, each with its aliases in headers behind bars; none if a header gives them
	Optional int      // how many of the last columns may be missing
}

func (f Format) comma() string {
	if f.Comma == "" {
		return ","
	}
	return f.Comma
}

// A Rule fills one field, or ts.
type Rule struct {
	To   string // the field's name, or "ts"
	From string // the column's name, "" if As needs none
	As   Conv
	Must bool // a stream without that field is refused; else what it has no field for is not kept
}

// A Preset says what the files of a venue hold and where it goes. All of it is
// data.
type Preset struct {
	Name, About string
	Format      Format
	Shape       string         // of a stream that is made, by package shapes' name
	Px, Qty     uint8          // decimals of its prices and quantities
	Fields      []schema.Field // instead of a shape
	Unit        schema.Unit    // of a stream that is made; 0 is ns
	Rules       []Rule
	Same        bool     // columns without a rule go into the fields of their names
	Drop        []string // fields that Same leaves alone
	Zone        string   // of the venue's times, where they don't say
	FileName    string   // a regular expression with the groups symbol and date, for a file's name
	Key         []string // fields that together no two records share; none: all but seq
	Only        Only     // rows to take
	Doc         string   // what a reader of the records should know
}

// Only takes the rows that have one of Values in Column. With no column it takes all.
type Only struct {
	Column string
	Values []string
}

// Schema returns what a stream gets that is made for the preset.
func (p Preset) Schema() (*schema.Schema, error) {
	switch {
	case p.Fields != nil:
		return schema.New(p.Unit, p.Fields...)
	case p.Shape == "":
		return nil, errors.New("what are the records? name their fields with --map, or a --shape")
	}
	s, err := shapes.Scaled(p.Shape, p.Px, p.Qty)
	if err != nil || p.Unit == 0 {
		return s, err
	}
	return s.WithUnit(p.Unit)
}

// WithRules returns the preset with rules of the caller's own, each instead of
// the one for the same field. A rule without a conversion takes a field's away.
func (p Preset) WithRules(rules []Rule) Preset {
	p.Rules = slices.Clone(p.Rules)
	for _, r := range rules {
		p.Rules = slices.DeleteFunc(p.Rules, func(old Rule) bool { return old.To == r.To })
		if r.As.do == nil {
			p.Drop = append(slices.Clone(p.Drop), r.To)
			continue
		}
		p.Rules = append(p.Rules, r)
	}
	return p
}

// wanted are the columns that a row must have for the rules, in a JSON object.
func (p Preset) wanted(s *schema.Schema) []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, r := range p.Rules {
		add(r.From)
		add(r.As.other)
	}
	add(p.Only.Column)
	for _, f := range s.Fields() {
		if p.same(f.Name) {
			add(f.Name)
		}
	}
	return names
}

// same tells whether a field is filled from the column of its name.
func (p Preset) same(field string) bool {
	return p.Same && !slices.Contains(p.Drop, field) && !slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.To == field })
}

// fromName takes the symbol and the date out of a file's name.
func (p Preset) fromName(name string) (symbol, date string) {
	if p.FileName == "" {
		return "", ""
	}
	re := regexp.MustCompile(p.FileName)
	m := re.FindStringSubmatch(name)
	if m == nil {
		return "", ""
	}
	if i := re.SubexpIndex("symbol"); i > 0 {
		symbol = m[i]
	}
	if i := re.SubexpIndex("date"); i > 0 {
		date = m[i]
	}
	return symbol, date
}

// Describe returns the mapping as lines of text: field, column, conversion.
func (p Preset) Describe() []string {
	var out []string
	for _, r := range p.Rules {
		from := r.From
		if from == "" {
			from = "–"
		}
		out = append(out, fmt.Sprintf("%s\t%s\t%s", r.To, from, r.As.about))
	}
	return out
}

// fingerprint names what of a mapping decides what the records of a file are.
func (p Preset) fingerprint(symbol, date, zone string, s *schema.Schema) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s symbol=%s date=%s zone=%s into %s", p.Name, symbol, date, zone, s)
	if p.Same { // what the general presets leave to the caller
		fmt.Fprintf(&b, " columns=%q comma=%q but=%q", p.Format.Columns, p.Format.comma(), p.Drop)
	}
	for _, r := range p.Rules {
		fmt.Fprintf(&b, " %s=%s", r.To, r.From)
		if r.As.key != "" {
			fmt.Fprintf(&b, "(%s)", r.As.key)
		}
	}
	return b.String()
}
