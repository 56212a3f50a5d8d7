package feed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
)

// A column is a field's number, or one of these.
const (
	columnTime = -1
	columnSeq  = -2 // read over: the engine numbers records
)

// A binder puts texts into records.
type binder struct {
	s      *schema.Schema
	o      Options
	fields []schema.Field
	texts  uint32 // a bit for each field whose values may be texts
	all    uint32 // a bit for each field and, above them, for the time
	seen   uint32 // of the record at hand
}

func newBinder(s *schema.Schema, o Options) *binder {
	b := &binder{s: s, o: o, fields: s.Fields(), all: 2<<s.NumFields() - 1}
	if o.RawValues {
		for i := range b.fields {
			b.fields[i].Scale = 0
		}
		b.o.Texts = nil
	}
	for i, f := range b.fields {
		if b.o.Texts != nil && b.o.Texts.Has(f.Name) {
			b.texts |= 1 << i
		}
	}
	return b
}

func (b *binder) timeBit() uint32 { return 1 << len(b.fields) }

func (b *binder) column(name string) (int, error) {
	switch name {
	case "ts":
		return columnTime, nil
	case "seq":
		return columnSeq, nil
	}
	if i, ok := b.s.Index(name); ok {
		return i, nil
	}
	return 0, fmt.Errorf("no column %.40q in this stream; it has %s", name, b.names(b.all))
}

// names lists the columns whose bits are set.
func (b *binder) names(set uint32) string {
	var names []string
	if set&b.timeBit() != 0 {
		names = append(names, "ts")
	}
	for i, f := range b.fields {
		if set&(1<<i) != 0 {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, ", ")
}

// begin starts a record.
func (b *binder) begin(rec []byte) {
	clear(rec)
	b.seen = 0
}

// set puts text into a column; an empty one counts as missing.
func (b *binder) set(rec []byte, column int, text string) error {
	switch {
	case text == "" || column == columnSeq:
		return nil
	case column == columnTime:
		ts, err := b.time(text)
		if err != nil {
			return fmt.Errorf("ts: %w", err)
		}
		schema.PutTime(rec, ts)
		return b.mark(b.timeBit(), "ts")
	}
	f := b.fields[column]
	v, err := b.value(column, text)
	if err != nil {
		return err
	}
	if err := b.s.PutBits(rec, column, v); err != nil {
		return err
	}
	return b.mark(1<<column, f.Name)
}

// value reads a field's value. Where it may be a text, one that has no number is
// read as a number, as it is printed.
func (b *binder) value(column int, text string) (int64, error) {
	f := b.fields[column]
	if b.texts&(1<<column) == 0 {
		v, err := f.ParseValue(text)
		if err != nil && b.o.Texts != nil && f.Scale == 0 && isName(text) {
			err = fmt.Errorf("%w; with --learn %s such texts get numbers", err, f.Name)
		}
		return v, err
	}
	n, ok, err := b.o.Texts.Number(f.Name, text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.Name, err)
	}
	if ok {
		return int64(n), nil
	}
	v, err := f.ParseValue(text)
	if err != nil {
		return 0, fmt.Errorf("%s: the stream's dictionary has no %.40q; with --learn %[1]s new texts get numbers", f.Name, text)
	}
	return v, nil
}

// isName tells whether a text looks like a name, and not like a mistyped number.
func isName(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}

func (b *binder) time(text string) (int64, error) {
	if !b.o.RawValues {
		return value.ParseTime(text, b.s.Unit())
	}
	ts, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not an integer, which --raw-values asks for", text)
	}
	return ts, nil
}

func (b *binder) mark(bit uint32, name string) error {
	if b.seen&bit != 0 {
		return fmt.Errorf("%s stands twice", name)
	}
	b.seen |= bit
	return nil
}

// done checks a record behind its last value.
func (b *binder) done(rec []byte) error {
	if err := b.end(); err != nil || b.o.Texts == nil {
		return err
	}
	return b.o.Texts.Check(rec)
}

// end checks that nothing is missing.
func (b *binder) end() error {
	missing := b.all &^ b.seen
	switch {
	case missing&b.timeBit() != 0:
		return errors.New("no ts: each record needs its time")
	case missing != 0 && !b.o.Defaults:
		return fmt.Errorf("no value for %s; with --defaults it would be 0", b.names(missing))
	}
	return nil
}
