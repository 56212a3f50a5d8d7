package importer

import (
	"fmt"
	"strconv"
	"strings"
)

// A RowError says which value of which row of which file is wrong.
type RowError struct {
	File   string
	Place  string // what Row counts: "line", or "record" for DBN
	Row    int    // from 1
	Column string // "" where it is the row as a whole
	Text   string // of the value, shortened
	Err    error
}

func (e *RowError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %d", e.File, e.Place, e.Row)
	if e.Column != "" {
		fmt.Fprintf(&b, ", column %s", e.Column)
	}
	text := e.reason()
	if q := strconv.Quote(e.Text); e.Column != "" && !strings.Contains(text, e.Text) {
		fmt.Fprintf(&b, " (%s)", q)
	}
	b.WriteString(": " + text)
	return b.String()
}

// reason is what is wrong, without the prefix of our packages.
func (e *RowError) reason() string { return strings.TrimPrefix(e.Err.Error(), "ledger: ") }

// Unwrap returns the cause.
func (e *RowError) Unwrap() error { return e.Err }

// shorten keeps an error readable whatever the input holds.
func shorten(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
