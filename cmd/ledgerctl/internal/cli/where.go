package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/query"
)

// whereHelp tells what a condition is.
const whereHelp = `A condition compares fields, seq and ts with values: == != < <= > >=, "in [1,
2]", "between 1 and 5", joined by && || ! and brackets. A field with a scale
compares with decimals, ts with times: 'px >= 64000.00 && ts <
2026-10-12T09:30:00Z'. A field that prints as texts compares with texts in
quotes, by == != and in: 'sym in ["BTC-USD", "ETH-USD"]'. A text that the stream
doesn't have is an error.`

// addWhere adds --where.
func addWhere(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "where", "", "only records for which this `condition` holds, as in 'sym == 3 && qty > 0'")
	completeWith(cmd, "where", completeWords())
}

// where narrows the scan to the records for which a condition holds, beside its
// range of times. Its texts are those of the stream in dir. What can't be read is
// a usage error.
func (s *scan) where(condition, dir string) error {
	s.holds = query.And() // always
	if condition != "" {
		texts := &whereTexts{dir: dir}
		p, err := query.ParseWhereTexts(s.snap.Schema(), condition, texts)
		if texts.err != nil {
			return &hintedError{texts.err, "numbers in place of texts need no dictionary"}
		}
		if err != nil {
			return inFlag("--where", err)
		}
		s.holds = p
	}
	if s.times {
		s.holds = query.And(query.Ge("ts", s.since), s.holds)
		if !s.open {
			s.holds = query.And(query.Lt("ts", s.until), s.holds)
		}
	}
	f, err := query.NewFilter(s.snap.Schema(), s.holds)
	if err != nil {
		return inFlag("--where", err)
	}
	if s.filter = nil; !f.All() {
		s.filter = f
	}
	return nil
}

// whereTexts are a stream's texts, read when a condition first has one.
type whereTexts struct {
	dir string
	d   *dictionary.Dictionary
	err error
}

// Has implements query.Texts.
func (t *whereTexts) Has(field string) bool {
	if t.d == nil && t.err == nil {
		t.d, t.err = dictionary.Open(t.dir)
	}
	return t.err == nil && t.d.Has(field)
}

// Number implements query.Texts.
func (t *whereTexts) Number(field, text string) (uint64, bool) { return t.d.Number(field, text) }

// A textError is a mistake in the text of a flag. Where it stands is shown below
// the message.
type textError struct {
	flag string
	err  *query.SyntaxError
}

func (e *textError) Error() string {
	column := 1 + utf8.RuneCountInString(e.err.Text[:e.err.Pos])
	return fmt.Sprintf("%s: column %d: %s", e.flag, column, e.err.Msg)
}

func (e *textError) Unwrap() error { return e.err }

// inFlag makes a usage error of a mistake in a flag's text.
func inFlag(flag string, err error) error {
	var syntax *query.SyntaxError
	if errors.As(err, &syntax) {
		return &usageError{&textError{flag, syntax}}
	}
	return usagef("%s: %s", flag, queryText(err))
}

// queryText is the text of an error of package query without the package's name.
func queryText(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "query: "), "invalid: ")
}

// point shows the text that an error is about, with a caret below the place.
func (a *app) point(err error) {
	var e *textError
	if errors.As(err, &e) {
		line, cells := excerpt(e.err.Text, e.err.Pos)
		fmt.Fprintf(a.errs, "  %s\n  %s^\n", line, strings.Repeat(" ", cells))
	}
}

// What is shown before and behind the place of a mistake, in characters.
const (
	excerptBefore = 50
	excerptBehind = 26
)

// excerpt returns what stands around a place in a text, on one line, and how many
// cells of a terminal stand before the place.
func excerpt(s string, pos int) (line string, cells int) {
	plain := func(s string) []rune {
		return []rune(listing.Printable(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return ' '
			}
			return r
		}, s)))
	}
	before, behind := plain(s[:pos]), plain(s[pos:])
	if n := len(before) - excerptBefore; n > 0 {
		before = append([]rune("…"), before[n+1:]...)
	}
	if len(behind) > excerptBehind {
		behind = append(behind[:excerptBehind-1:excerptBehind-1], '…')
	}
	return string(before) + string(behind), text.StringWidth(string(before))
}
