package listing

import (
	"bytes"
	"io"
)

// csvWriter writes RFC 4180 with bare line feeds, as encoding/csv does.
type csvWriter struct {
	w       io.Writer
	columns []Column
	line    []byte
	begun   bool
}

func (c *csvWriter) header() error {
	if c.begun {
		return nil
	}
	c.begun = true
	line := c.line[:0]
	for i, column := range c.columns {
		if i > 0 {
			line = append(line, ',')
		}
		line = appendCSV(line, []byte(column.Name))
	}
	_, err := c.w.Write(append(line, '\n'))
	return err
}

func (c *csvWriter) Write(r *Row) error {
	if err := c.header(); err != nil {
		return err
	}
	line := c.line[:0]
	for i, column := range c.columns {
		if i > 0 {
			line = append(line, ',')
		}
		if column.Kind == Text {
			line = appendCSV(line, r.Cell(i))
		} else {
			line = append(line, r.Cell(i)...)
		}
	}
	c.line = append(line, '\n')
	_, err := c.w.Write(c.line)
	return err
}

func (c *csvWriter) Flush() error { return c.header() }
func (c *csvWriter) Close() error { return c.header() }

// appendCSV puts quotes around a cell that needs them: one that begins or ends
// with a blank does, for there are readers that cut blanks off.
func appendCSV(line, cell []byte) []byte {
	n := len(cell)
	if !bytes.ContainsAny(cell, ",\"\r\n") && (n == 0 || !blank(cell[0]) && !blank(cell[n-1])) {
		return append(line, cell...)
	}
	line = append(line, '"')
	for _, c := range cell {
		if c == '"' {
			line = append(line, '"')
		}
		line = append(line, c)
	}
	return append(line, '"')
}

func blank(c byte) bool { return c == ' ' || c == '\t' }
