package listing

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// gap stands between columns.
const gap = "  "

// The narrowest that a cell is wrapped to. A time is cut where its parts end.
const (
	textMin  = 12
	timeDate = len("2026-10-12T")         // the time of day and its fraction go to lines of their own
	timeFull = len("2026-10-12T09:30:00") // its fraction does
)

// wrapText wraps between words, and within one that is wider than the column.
func wrapText(s string, width int) string {
	var lines []string
	line := ""
	for i, word := range strings.Split(s, " ") {
		switch {
		case i == 0:
			line = word
		case text.StringWidth(line)+1+text.StringWidth(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
		if parts := strings.Split(text.WrapHard(line, width), "\n"); len(parts) > 1 {
			last := len(parts) - 1
			lines, line = append(lines, parts[:last]...), parts[last]
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// wrapTime wraps a time at most width cells wide.
func wrapTime(s string, width int) string {
	if len(s) <= width || len(s) <= timeFull || s[timeDate-1] != 'T' {
		return text.WrapHard(s, width)
	}
	lines := s[:timeFull] + "\n" + s[timeFull:]
	if width < timeFull {
		lines = s[:timeDate] + "\n" + lines[timeDate:]
	}
	return lines
}

// fit returns the width of each column for the rows at hand, never less than
// before, and whether they fit the terminal.
func (t *tableWriter) fit() (limits []int, ok bool) {
	limits = make([]int, len(t.columns))
	sum := len(gap) * (len(t.columns) - 1)
	for i, c := range t.columns {
		limits[i] = max(text.StringWidth(c.Name), t.widths[i])
		for _, row := range t.rows {
			limits[i] = max(limits[i], text.StringWidth(row[i]))
		}
		sum += limits[i]
	}
	for _, least := range []int{timeFull, timeDate} {
		sum = t.shrink(limits, sum, least)
	}
	copy(t.widths, limits)
	return limits, t.o.Width == 0 || sum <= t.o.Width
}

// shrink takes from the widest column that can give until the sum of all fits the
// terminal, and returns the sum it got to. A time shrinks to timeLeast at once.
func (t *tableWriter) shrink(limits []int, sum, timeLeast int) int {
	for t.o.Width > 0 && sum > t.o.Width {
		widest, give := -1, 0
		for i, c := range t.columns {
			n := limits[i] - text.StringWidth(c.Name)
			switch c.Kind {
			case Text:
				n = min(n, limits[i]-textMin, 1)
			case Time:
				n = min(n, limits[i]-timeLeast)
			default:
				n = 0
			}
			if n > 0 && (widest < 0 || limits[i] > limits[widest]) {
				widest, give = i, n
			}
		}
		if widest < 0 {
			break
		}
		limits[widest] -= give
		sum -= give
	}
	return sum
}
