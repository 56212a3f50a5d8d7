package listing

import (
	"io"
	"unicode/utf8"
)

// jsonWriter writes an array of objects, or an object a line.
type jsonWriter struct {
	w       io.Writer
	columns []Column
	names   [][]byte // quoted, with the colon
	lines   bool
	rows    int
	flushed bool // the last row's line has been ended early
	line    []byte
}

func quotedNames(columns []Column) [][]byte {
	names := make([][]byte, len(columns))
	for i, c := range columns {
		names[i] = append(AppendJSONString(nil, []byte(c.Name)), ':')
	}
	return names
}

func (j *jsonWriter) Write(r *Row) error {
	line := j.line[:0]
	switch {
	case j.lines:
	case j.rows == 0:
		line = append(line, "[\n"...)
	case j.flushed:
		line = append(line, ',')
	default:
		line = append(line, ",\n"...)
	}
	j.rows++
	j.flushed = false
	for i, column := range j.columns {
		if i == 0 {
			line = append(line, '{')
		} else {
			line = append(line, ',')
		}
		line = append(line, j.names[i]...)
		line = appendJSON(line, column, r.Cell(i))
	}
	line = append(line, '}')
	if j.lines {
		line = append(line, '\n')
	}
	j.line = line
	_, err := j.w.Write(line)
	return err
}

// Flush ends the line that the last row stands on, for those who read line by line.
func (j *jsonWriter) Flush() error {
	if j.lines || j.rows == 0 || j.flushed {
		return nil
	}
	j.flushed = true
	_, err := io.WriteString(j.w, "\n")
	return err
}

func (j *jsonWriter) Close() error {
	end := "\n]\n"
	switch {
	case j.lines:
		return nil
	case j.rows == 0:
		end = "[]\n"
	case j.flushed:
		end = "]\n"
	}
	_, err := io.WriteString(j.w, end)
	return err
}

func appendJSON(line []byte, c Column, cell []byte) []byte {
	switch {
	case c.Kind == Text && !(c.Null && len(cell) == 0):
		return AppendJSONString(line, cell)
	case len(cell) == 0:
		return append(line, "null"...)
	case c.Kind == Number || c.Kind == Bool:
		return append(line, cell...)
	}
	line = append(line, '"')
	line = append(line, cell...)
	return append(line, '"')
}

// AppendJSONString appends s as a JSON string. Bytes that aren't UTF-8 become
// U+FFFD; nothing but quotes, backslashes and control characters is escaped.
func AppendJSONString(line, s []byte) []byte {
	const hex = "0123456789abcdef"
	line = append(line, '"')
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r == '"' || r == '\\':
			line = append(line, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			line = append(line, `\u00`...)
			line = append(line, hex[r>>4], hex[r&15])
		default:
			line = utf8.AppendRune(line, r)
		}
		s = s[n:]
	}
	return append(line, '"')
}
