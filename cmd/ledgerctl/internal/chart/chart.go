// Package chart draws candles with characters, for a look at a terminal.
//
// Its functions keep no state and may be called by any number of goroutines.
package chart

import (
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Candle is one interval. Prices that are NaN leave its column empty.
type Candle struct {
	Time                           string // as shown below the chart
	Open, High, Low, Close, Volume float64
}

// Options say how a chart looks. All but Title must be set.
type Options struct {
	Title  string // the line above; "" is none
	Width  int    // of a line, in cells; at least WidthMin are taken
	Height int    // lines for prices; at least 2 are taken
	Digits int    // decimals of prices
	Color  bool   // rising candles are green, falling ones red
}

// WidthMin is the narrowest that a chart can be.
const WidthMin = 20

// Write draws the candles from left to right: the body between open and close
// thick, the wick from low to high thin, and the volume below. Where there are
// more than a line has room for, neighbours are drawn as one, and it says so.
func Write(w io.Writer, candles []Candle, o Options) error {
	p := newPlot(candles, o)
	var lines []string
	if o.Title != "" {
		lines = append(lines, o.Title)
	}
	for line := range p.height {
		lines = append(lines, p.label(line)+p.row(func(c Candle) rune { return p.glyph(c, line) }))
	}
	top := 0.0
	for _, c := range p.candles {
		top = max(top, c.Volume)
	}
	indent := strings.Repeat(" ", p.margin+1)
	lines = append(lines, indent+p.row(func(c Candle) rune { return bar(c.Volume, top) }), indent+p.times())
	if p.each > 1 {
		lines = append(lines, "Each column is "+strconv.Itoa(p.each)+" candles.")
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ") + "\n"
	}
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

// A plot is a chart being drawn.
type plot struct {
	candles []Candle // one for each column
	each    int      // candles of the caller's in a column
	height  int
	margin  int // cells of a price's label
	low     float64
	high    float64
	digits  int
	color   bool
}

func newPlot(candles []Candle, o Options) *plot {
	p := &plot{height: max(o.Height, 2), low: math.Inf(1), high: math.Inf(-1), digits: o.Digits, color: o.Color}
	for _, c := range candles {
		if !c.empty() {
			p.low, p.high = min(p.low, c.Low), max(p.high, c.High)
		}
	}
	if p.low > p.high {
		p.low, p.high = 0, 0
	}
	p.margin = max(len(p.price(p.low)), len(p.price(p.high)))
	room := max(o.Width, WidthMin) - p.margin - len(" ")
	room = max(room, 1)
	p.each = max(1, (len(candles)+room-1)/room)
	for len(candles) > 0 {
		n := min(p.each, len(candles))
		p.candles = append(p.candles, join(candles[:n]))
		candles = candles[n:]
	}
	return p
}

func (c Candle) empty() bool { return math.IsNaN(c.Low) || math.IsNaN(c.High) }

// join makes one candle of neighbours.
func join(list []Candle) Candle {
	nan := math.NaN()
	sum := Candle{Time: list[0].Time, Open: nan, High: nan, Low: nan, Close: nan}
	for _, c := range list {
		sum.Volume += c.Volume
		switch {
		case c.empty():
			continue
		case sum.empty():
			sum.Open, sum.High, sum.Low = c.Open, c.High, c.Low
		}
		sum.High, sum.Low, sum.Close = max(sum.High, c.High), min(sum.Low, c.Low), c.Close
	}
	return sum
}

func (p *plot) price(v float64) string { return strconv.FormatFloat(v, 'f', p.digits, 64) }

// labelEvery is how many lines lie between two prices on the left.
const labelEvery = 4

// label is what stands on the left of a line.
func (p *plot) label(line int) string {
	text := ""
	if line == p.height-1 || line%labelEvery == 0 && line < p.height-labelEvery/2 {
		share := float64(line) / float64(p.height-1)
		text = p.price(p.high - share*(p.high-p.low))
	}
	return strings.Repeat(" ", p.margin-len(text)) + text + " "
}

// half is the half line that a price lies in, from 0 at the bottom: each line of
// characters has two.
func (p *plot) half(v float64) int {
	if p.high == p.low {
		return p.height
	}
	return int(math.Round((v - p.low) / (p.high - p.low) * float64(2*p.height-1)))
}

// glyphs are the characters for an upper and a lower half that hold nothing, a
// wick or a body.
var glyphs = [3][3]rune{
	{' ', '╷', '╻'},
	{'╵', '│', '╽'},
	{'╹', '╿', '┃'},
}

// glyph is the part of a candle that lies in a line.
func (p *plot) glyph(c Candle, line int) rune {
	if c.empty() {
		return ' '
	}
	upper := 2*(p.height-1-line) + 1
	return glyphs[p.part(c, upper)][p.part(c, upper-1)]
}

// part is what a half line holds of a candle: 0 nothing, 1 the wick, 2 the body.
func (p *plot) part(c Candle, half int) int {
	switch {
	case half < p.half(c.Low) || half > p.half(c.High):
		return 0
	case half < p.half(min(c.Open, c.Close)) || half > p.half(max(c.Open, c.Close)):
		return 1
	}
	return 2
}

// bar is the height of a volume in eighths of a line.
func bar(v, top float64) rune {
	if !(v > 0) {
		return ' '
	}
	return '▁' + rune(math.Round(v/top*7))
}

// row is one character of each candle, in the candle's colour.
func (p *plot) row(of func(Candle) rune) string {
	var b strings.Builder
	for _, c := range p.candles {
		r := of(c)
		if !p.color || r == ' ' || c.empty() || c.Open == c.Close {
			b.WriteRune(r)
			continue
		}
		code := "32"
		if c.Close < c.Open {
			code = "31"
		}
		b.WriteString("\x1b[" + code + "m" + string(r) + "\x1b[0m")
	}
	return b.String()
}

// times is the first time and, where there is room, the last.
func (p *plot) times() string {
	if len(p.candles) == 0 {
		return ""
	}
	first, last := p.candles[0].Time, p.candles[len(p.candles)-1].Time
	gap := len(p.candles) - utf8.RuneCountInString(first) - utf8.RuneCountInString(last)
	if gap <= 0 {
		return first
	}
	return first + strings.Repeat(" ", gap) + last
}
