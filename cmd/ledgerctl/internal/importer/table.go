package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/ledger/cmd/ledgerctl/internal/feed"
)

// lineMax is the longest line, in bytes.
const lineMax = 256 << 10

// A table reads the rows of an input as texts. After a wrong row it can go on
// with the next.
type table interface {
	// columns are the names of the cells, known before the first row.
	columns() []string
	// next returns a row's cells, which are valid until the next call. A
	// *badRow is an error of this row only. io.EOF comes at the end.
	next() ([]string, error)
	// row is the number of the row that next read last, from 1.
	row() int
	// text is that row as it stands in the input; nil if it is no text.
	text() []byte
}

// A badRow is wrong, but the rows behind it can be read.
type badRow struct{ err error }

func (e *badRow) Error() string { return e.err.Error() }

// lines cuts an input into lines that aren't blank, and counts all.
type lines struct {
	r    *bufio.Reader
	n    int
	line []byte
}

func newLines(r io.Reader) *lines {
	l := &lines{r: bufio.NewReaderSize(r, lineMax)}
	if mark, err := l.r.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" { // a byte order mark
		l.r.Discard(3)
	}
	return l
}

func (l *lines) row() int     { return l.n }
func (l *lines) text() []byte { return l.line }

// next returns the next line, valid until the call after.
func (l *lines) next() (string, error) {
	for {
		b, err := l.r.ReadSlice('\n')
		if err != nil && (err != io.EOF || len(b) == 0) {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = fmt.Errorf("line %d is longer than %d bytes", l.n+1, lineMax)
			}
			return "", err
		}
		l.n++
		if l.line = bytes.TrimRight(b, "\r\n"); len(bytes.TrimSpace(l.line)) > 0 {
			return string(l.line), nil
		}
	}
}

// A csvTable reads lines of cells.
type csvTable struct {
	*lines
	comma string
	names []string
	least int      // cells that a row must have; the last columns may be missing
	first []string // the first row, where it was read to find out whether it is a header
	cells []string
}

// newCSV reads far enough to know the columns. Without names the first line is
// a header; with names it is one if it has one of them.
func newCSV(r io.Reader, f Format) (*csvTable, error) {
	t := &csvTable{lines: newLines(r), comma: f.comma()}
	line, err := t.lines.next()
	if err != nil && err != io.EOF {
		return nil, err
	}
	if err == io.EOF {
		t.names = firstNames(f.Columns)
		return t, nil
	}
	cells, err := feed.SplitCSV(nil, line, t.comma)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", t.n, err)
	}
	if isHeader(cells, f.Columns) {
		t.names, _ = canonical(cells, f.Columns)
		t.least = len(t.names)
		return t, nil
	}
	t.names, t.least = firstNames(f.Columns), len(f.Columns)-f.Optional
	t.first = slices.Clone(cells)
	return t, nil
}

func (t *csvTable) columns() []string { return t.names }

func (t *csvTable) next() ([]string, error) {
	if t.first != nil {
		t.cells, t.first = append(t.cells[:0], t.first...), nil
	} else {
		line, err := t.lines.next()
		if err != nil {
			return nil, err
		}
		if t.cells, err = feed.SplitCSV(t.cells[:0], line, t.comma); err != nil {
			return nil, &badRow{err}
		}
	}
	n := len(t.cells)
	if n < t.least || n > len(t.names) {
		return nil, &badRow{fmt.Errorf("%d cells, where there should be %s", n, between(t.least, len(t.names)))}
	}
	for len(t.cells) < len(t.names) {
		t.cells = append(t.cells, "")
	}
	return t.cells, nil
}

func between(a, b int) string {
	if a == b {
		return fmt.Sprint(a)
	}
	return fmt.Sprintf("%d to %d", a, b)
}

// firstNames are the names that a preset gives to columns, each before its aliases.
func firstNames(columns []string) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i], _, _ = strings.Cut(c, "|")
	}
	return names
}

// isHeader tells whether cells name columns: most of them do.
func isHeader(cells, columns []string) bool {
	_, known := canonical(cells, columns)
	return len(columns) == 0 || known*2 > len(cells)
}

// canonical replaces the aliases in a header by the names that a preset uses,
// and counts the names that it knows.
func canonical(cells, columns []string) (names []string, known int) {
	names = slices.Clone(cells)
	for i, cell := range cells {
		for _, c := range columns {
			aliases := strings.Split(c, "|")
			if slices.ContainsFunc(aliases, func(a string) bool { return plainHead(a) == plainHead(cell) }) {
				names[i] = aliases[0]
				known++
				break
			}
		}
	}
	return names, known
}

// plainHead is a header's name without what venues change about it.
func plainHead(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == ' ' || r == '.' || r == '-' {
			return -1
		}
		return r
	}, s))
}

// A jsonTable reads one object a line, of which it takes the members that are wanted.
type jsonTable struct {
	*lines
	names []string
	index map[string]int
	cells []string
	seen  []bool
}

func newJSON(r io.Reader, wanted []string) *jsonTable {
	t := &jsonTable{lines: newLines(r), names: wanted, index: map[string]int{}, cells: make([]string, len(wanted)), seen: make([]bool, len(wanted))}
	for i, name := range wanted {
		t.index[name] = i
	}
	return t
}

func (t *jsonTable) columns() []string { return t.names }

func (t *jsonTable) next() ([]string, error) {
	line, err := t.lines.next()
	if err != nil {
		return nil, err
	}
	clear(t.cells)
	clear(t.seen)
	if err := t.object(line); err != nil {
		return nil, &badRow{fmt.Errorf("no JSON object as it should be: %w", err)}
	}
	return t.cells, nil
}

func (t *jsonTable) object(line string) error {
	d := json.NewDecoder(strings.NewReader(line))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return errors.Join(errors.New("it does not begin with {"), err)
	}
	var value json.RawMessage
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if err := d.Decode(&value); err != nil {
			return err
		}
		i, ok := t.index[name.(string)]
		if !ok {
			continue
		}
		if t.seen[i] {
			return fmt.Errorf("%q stands twice", name)
		}
		t.seen[i] = true
		if t.cells[i], err = scalar(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text behind the object: write one a line")
	}
	return nil
}

// scalar is the text of a string, number, true, false or null, numbers as they
// are written.
func scalar(v json.RawMessage) (text string, err error) {
	switch {
	case v[0] == '"':
		err = json.Unmarshal(v, &text)
		return text, err
	case v[0] == '{' || v[0] == '[':
		return "", errors.New("an object or array has no place in a field")
	case string(v) == "null":
		return "", nil
	}
	return string(v), nil
}
