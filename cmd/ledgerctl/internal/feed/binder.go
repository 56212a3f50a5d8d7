package feed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

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
	all    uint32 // a bit for each field and, above them, for the time
	seen   uint32 // of the record at hand
}

func newBinder(s *schema.Schema, o Options) *binder {
	b := &binder{s: s, o: o, fields: s.Fields(), all: 2<<s.NumFields() - 1}
	if o.RawValues {
		for i := range b.fields {
			b.fields[i].Scale = 0
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
	v, err := f.ParseValue(text)
	if err != nil {
		return err
	}
	if err := b.s.PutBits(rec, column, v); err != nil {
		return err
	}
	return b.mark(1<<column, f.Name)
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

// end checks that the record is whole.
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
