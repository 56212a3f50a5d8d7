package listing

import "github.com/jedib0t/go-pretty/v6/text"

// gap stands between columns.
const gap = "  "

// The narrowest that a cell is wrapped to.
const (
	textMin = 12
	timeMin = len("2026-10-12T09:30:00") // the fraction goes to the next line
)

// fit returns the width of each column for the rows at hand, never less than
// before, and whether they fit the terminal.
func (t *tableWriter) fit() (limits []int, ok bool) {
	limits = make([]int, len(t.columns))
	least := make([]int, len(t.columns))
	sum := len(gap) * (len(t.columns) - 1)
	for i, c := range t.columns {
		name := text.StringWidth(c.Name)
		natural := max(name, t.widths[i])
		for _, row := range t.rows {
			natural = max(natural, text.StringWidth(row[i]))
		}
		limits[i], least[i] = natural, natural
		switch c.Kind {
		case Text:
			least[i] = max(name, min(natural, textMin))
		case Time:
			least[i] = max(name, min(natural, timeMin))
		}
		sum += natural
	}
	if t.o.Width > 0 {
		sum = t.shrink(limits, least, sum)
	}
	copy(t.widths, limits)
	return limits, t.o.Width == 0 || sum <= t.o.Width
}

// shrink takes from the column that has most to give until the sum of all fits
// the terminal, and returns the sum it got to. A time gives its fraction at once.
func (t *tableWriter) shrink(limits, least []int, sum int) int {
	for sum > t.o.Width {
		widest := -1
		for i := range limits {
			if limits[i] > least[i] && (widest < 0 || limits[i] > limits[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		step := 1
		if t.columns[widest].Kind == Time {
			step = limits[widest] - least[widest]
		}
		limits[widest] -= step
		sum -= step
	}
	return sum
}
