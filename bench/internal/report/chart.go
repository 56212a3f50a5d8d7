package report

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Line is one line of a chart. Points must be in the order of X.
type Line struct {
	Name   string
	X, Y   []float64
	Dashed bool // floors
}

// A Chart is one panel. Lines of the same name have the same colour in all
// panels of a file, and stand once in its legend.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool
	Labels      []string // names of X 0, 1, 2 …; nil for numbers
	Unit        Unit     // of Y
	Lines       []Line
}

// palette has colours that can be told apart.
var palette = []color.RGBA{
	{0x1f, 0x77, 0xb4, 255}, {0xd6, 0x27, 0x28, 255}, {0x2c, 0xa0, 0x2c, 255}, {0xff, 0x7f, 0x0e, 255},
	{0x94, 0x67, 0xbd, 255}, {0x8c, 0x56, 0x4b, 255}, {0xe3, 0x77, 0xc2, 255}, {0x17, 0xbe, 0xcf, 255},
	{0xbc, 0xbd, 0x22, 255}, {0x00, 0x00, 0x80, 255}, {0x00, 0x80, 0x80, 255}, {0x80, 0x00, 0x00, 255},
}

const (
	panelWidth  = 13 * vg.Centimeter
	panelHeight = 9 * vg.Centimeter
	legendWidth = 7 * vg.Centimeter
	perRow      = 2
)

type look struct {
	color color.Color
	dash  []vg.Length
	glyph draw.GlyphDrawer
}

// drawTo writes panels side by side, two in a row, with one legend.
func drawTo(path string, panels []Chart) error {
	w, h := pageSize(panels)
	img := vgsvg.New(w, h)
	if err := drawOn(draw.New(img), panels); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := img.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func shape(panels []Chart) (rows, cols int) {
	cols = max(1, min(perRow, len(panels)))
	return max(1, (len(panels)+cols-1)/cols), cols
}

func pageSize(panels []Chart) (w, h vg.Length) {
	rows, cols := shape(panels)
	return vg.Length(cols)*panelWidth + legendWidth, vg.Length(rows) * panelHeight
}

func drawOn(page draw.Canvas, panels []Chart) error {
	rows, cols := shape(panels)
	looks, names := legend(panels)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, cols)
	}
	for i, c := range panels {
		p, err := c.plot(looks)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Title, err)
		}
		grid[i/cols][i%cols] = p
	}
	pad := 4 * vg.Millimeter
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: pad, PadY: pad, PadTop: pad / 2, PadBottom: pad / 2, PadLeft: pad / 2, PadRight: pad / 2}
	for j, cs := range plot.Align(grid, tiles, draw.Crop(page, 0, -legendWidth, 0, 0)) {
		for i, c := range cs {
			if grid[j][i] != nil {
				grid[j][i].Draw(c)
			}
		}
	}
	l := plot.NewLegend()
	l.Top, l.Left, l.Padding = true, true, vg.Points(3)
	for _, n := range names {
		k := looks[n]
		l.Add(n, &plotter.Line{LineStyle: draw.LineStyle{Color: k.color, Width: vg.Points(1.5), Dashes: k.dash}},
			&plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: k.color, Radius: vg.Points(2.5), Shape: k.glyph}})
	}
	w, _ := pageSize(panels)
	l.Draw(draw.Crop(page, w-legendWidth+pad, 0, 0, -pad))
	return nil
}

// legend gives each name a look: those of Ledger first, so that they have the
// same one in every chart.
func legend(panels []Chart) (map[string]look, []string) {
	looks := map[string]look{}
	var names []string
	glyphs := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
	for _, ours := range []bool{true, false} {
		for _, c := range panels {
			for _, l := range c.Lines {
				if _, ok := looks[l.Name]; ok || strings.HasPrefix(l.Name, "Ledger") != ours {
					continue
				}
				k := look{color: palette[len(names)%len(palette)], glyph: glyphs[len(names)%len(glyphs)]}
				if l.Dashed {
					k.dash = []vg.Length{vg.Points(4), vg.Points(3)}
				}
				looks[l.Name] = k
				names = append(names, l.Name)
			}
		}
	}
	return looks, names
}

func (c Chart) plot(looks map[string]look) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.Add(plotter.NewGrid())
	lo, hi := math.Inf(1), math.Inf(-1)
	left, right := math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		var pts plotter.XYs
		for i := range l.X {
			if !c.LogY || l.Y[i] > 0 {
				pts = append(pts, plotter.XY{X: l.X[i], Y: l.Y[i]})
				lo, hi = min(lo, l.Y[i]), max(hi, l.Y[i])
				left, right = min(left, l.X[i]), max(right, l.X[i])
			}
		}
		if len(pts) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(pts)
		if err != nil {
			return nil, err
		}
		k := looks[l.Name]
		line.Color, line.Width, line.Dashes = k.color, vg.Points(1.5), k.dash
		dots.Color, dots.Shape, dots.Radius = k.color, k.glyph, vg.Points(2.5)
		p.Add(line)
		if len(pts) <= 24 {
			p.Add(dots)
		}
	}
	if math.IsInf(lo, 1) {
		lo, hi, left, right = 1, 10, 1, 10 // nothing was measured
	}
	if c.LogX {
		if left == right {
			left, right = left/2, right*2
		}
		p.X.Min, p.X.Max = left, right
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powers{Count}
	}
	if c.Labels != nil {
		ticks := make(plot.ConstantTicks, len(c.Labels))
		for i, s := range c.Labels {
			ticks[i] = plot.Tick{Value: float64(i), Label: s}
		}
		p.X.Tick.Marker = ticks
		p.X.Min, p.X.Max = -.5, float64(len(ticks))-.5
	}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, powers{c.Unit}
		p.Y.Min, p.Y.Max = lo/1.5, hi*1.5
	} else {
		p.Y.Tick.Marker = units{c.Unit}
		p.Y.Min, p.Y.Max = 0, hi*1.1
		if p.Y.Max <= 0 {
			p.Y.Max = 1
		}
	}
	return p, nil
}

// powers marks powers of ten, with the figures' unit.
type powers struct{ u Unit }

// Ticks is plot.Ticker.
func (t powers) Ticks(lo, hi float64) (out []plot.Tick) {
	if lo <= 0 || math.IsInf(hi, 1) {
		return nil // no logarithm
	}
	from, to := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	for e := from; e <= to; e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < lo || v > hi {
				continue
			}
			k := plot.Tick{Value: v}
			if m == 1 || to-from <= 2 && (m == 2 || m == 5) {
				k.Label = Format(v, t.u)
			}
			out = append(out, k)
		}
	}
	return out
}

// units marks an even scale, with the figures' unit.
type units struct{ u Unit }

// Ticks is plot.Ticker.
func (t units) Ticks(lo, hi float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(lo, hi)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = Format(ticks[i].Value, t.u)
		}
	}
	return ticks
}
