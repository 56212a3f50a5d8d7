package listing

import (
	"io"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// pageRows is how many rows a table looks at before it sets its widths. Longer
// tables go on page by page, so that memory stays small and output begins early.
const pageRows = 1000

// A tableWriter lays rows out in columns. Where the terminal is too narrow, long
// cells are wrapped; where that is not enough, each row becomes a block of lines
// with one cell a line. No column is left out.
type tableWriter struct {
	w       io.Writer
	columns []Column
	o       Options
	rows    [][]string // not written yet
	widths  []int      // of the columns, of what has been written
	begun   bool       // something has been written
	blocks  bool
}

func newTable(w io.Writer, columns []Column, o Options) *tableWriter {
	if o.Color {
		text.EnableColors()
	}
	return &tableWriter{w: w, columns: columns, o: o, widths: make([]int, len(columns))}
}

func (t *tableWriter) Write(r *Row) error {
	row := make([]string, len(t.columns))
	for i := range row {
		row[i] = Printable(string(r.Cell(i)))
	}
	t.rows = append(t.rows, row)
	if len(t.rows) < pageRows {
		return nil
	}
	return t.Flush()
}

func (t *tableWriter) Flush() error {
	if len(t.rows) == 0 {
		return nil
	}
	return t.page()
}

// Close writes the header even if there were no rows, so that it is seen that
// there are none.
func (t *tableWriter) Close() error {
	if len(t.rows) == 0 && t.begun {
		return nil
	}
	return t.page()
}

func (t *tableWriter) page() error {
	limits, ok := t.fit()
	if !t.begun {
		t.blocks = !ok && len(t.rows) > 0
	}
	var err error
	if t.blocks {
		err = t.writeBlocks()
	} else {
		err = t.writePage(limits)
	}
	t.begun = true
	t.rows = t.rows[:0]
	return err
}

// writePage writes the rows, the first time below a header.
func (t *tableWriter) writePage(limits []int) error {
	p := table.NewWriter()
	p.SetStyle(t.style())
	p.SuppressTrailingSpaces()
	configs := make([]table.ColumnConfig, len(t.columns))
	header := make(table.Row, len(t.columns))
	for i, c := range t.columns {
		header[i] = c.Name
		align, wrap := text.AlignLeft, wrapText
		if c.Kind == Time {
			wrap = wrapTime
		}
		if c.Kind == Number || c.Kind == Exact {
			align = text.AlignRight
		}
		configs[i] = table.ColumnConfig{
			Number: i + 1, Align: align, AlignHeader: align,
			WidthMin: limits[i], WidthMax: limits[i], WidthMaxEnforcer: wrap,
		}
	}
	p.SetColumnConfigs(configs)
	if !t.begun {
		p.AppendHeader(header)
	}
	for _, row := range t.rows {
		cells := make(table.Row, len(row))
		for i, cell := range row {
			cells[i] = cell
		}
		p.AppendRow(cells)
	}
	_, err := io.WriteString(t.w, p.Render()+"\n")
	return err
}

func (t *tableWriter) style() table.Style {
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	s.Box.PaddingLeft, s.Box.PaddingRight = "", gap
	s.Format.Header = text.FormatDefault
	s.Color = table.ColorOptions{}
	if t.o.Color {
		s.Color.Header = text.Colors{text.Bold}
	}
	return s
}

// writeBlocks writes each row as lines of a name and a value.
func (t *tableWriter) writeBlocks() error {
	names := 0
	for _, c := range t.columns {
		names = max(names, text.StringWidth(c.Name))
	}
	var b strings.Builder
	for i, row := range t.rows {
		if i > 0 || t.begun {
			b.WriteByte('\n')
		}
		for j, c := range t.columns {
			name := text.Pad(c.Name, names, ' ')
			if t.o.Color {
				name = text.Bold.Sprint(name)
			}
			b.WriteString(strings.TrimRight(name+gap+row[j], " ") + "\n")
		}
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

// Printable returns s without what a terminal would act on, such as a file's name
// may contain.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
