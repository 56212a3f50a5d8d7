package feed

import (
	"errors"
	"fmt"
	"strings"
)

// csvSource reads CSV: the first line names the columns, in any order.
type csvSource struct {
	in      *lines
	b       *binder
	columns []int // of each cell; nil before the header
	cells   []string
}

func (c *csvSource) Line() int   { return c.in.n }
func (c *csvSource) Ready() bool { return c.in.ready() }

func (c *csvSource) Next(rec []byte) error {
	if c.columns == nil {
		if err := c.header(); err != nil {
			return err
		}
	}
	line, err := c.in.next()
	if err != nil {
		return err
	}
	if err := c.record(rec, line); err != nil {
		return c.in.bad(0, err)
	}
	return nil
}

func (c *csvSource) header() error {
	line, err := c.in.next()
	if err != nil {
		return err // no line at all is no record
	}
	if err := c.names(line); err != nil {
		return c.in.bad(0, err)
	}
	return nil
}

func (c *csvSource) names(line string) (err error) {
	if c.cells, err = SplitCSV(c.cells[:0], line, ","); err != nil {
		return err
	}
	var columns []int
	c.b.seen = 0
	for _, name := range c.cells {
		column, err := c.b.column(name)
		if err != nil {
			return fmt.Errorf("%w; the first line must name the columns", err)
		}
		switch {
		case column == columnTime:
			err = c.b.mark(c.b.timeBit(), name)
		case column >= 0:
			err = c.b.mark(1<<column, name)
		}
		if err != nil {
			return err
		}
		columns = append(columns, column)
	}
	c.columns = columns
	return c.b.end()
}

func (c *csvSource) record(rec []byte, line string) (err error) {
	if c.cells, err = SplitCSV(c.cells[:0], line, ","); err != nil {
		return err
	}
	if len(c.cells) != len(c.columns) {
		return fmt.Errorf("%d cells, the header has %d", len(c.cells), len(c.columns))
	}
	c.b.begin(rec)
	for i, text := range c.cells {
		if err := c.b.set(rec, c.columns[i], text); err != nil {
			return err
		}
	}
	return c.b.done(rec)
}

// SplitCSV appends the cells of a line, which commas part, without the blanks
// around them. A quoted cell ends on the line that it begins on.
func SplitCSV(cells []string, line, comma string) ([]string, error) {
	blanks := " \t"
	if comma == "\t" {
		blanks = " "
	}
	for {
		if text := strings.TrimLeft(line, blanks); text != "" && text[0] == '"' {
			cell, rest, err := cutQuoted(text)
			if err != nil {
				return cells, err
			}
			cells, line = append(cells, cell), strings.TrimLeft(rest, blanks)
			if line == "" {
				return cells, nil
			}
			if !strings.HasPrefix(line, comma) {
				return cells, errors.New("text behind a closing quote")
			}
			line = line[len(comma):]
			continue
		}
		cell, rest, more := strings.Cut(line, comma)
		if strings.IndexByte(cell, '"') >= 0 {
			return cells, errors.New("a quote inside a cell without quotes")
		}
		cells, line = append(cells, strings.Trim(cell, blanks)), rest
		if !more {
			return cells, nil
		}
	}
}

// cutQuoted cuts text, which begins with a quote, behind the quote that closes it.
func cutQuoted(text string) (cell, rest string, err error) {
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			i++
			continue
		}
		return strings.ReplaceAll(text[1:i], `""`, `"`), text[i+1:], nil
	}
	return "", "", errors.New("a quote is not closed on its line")
}
