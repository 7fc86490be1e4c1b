package plan

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var _ Figure = (*Comparison)(nil)

func (c *Comparison) draw(canvas draw.Canvas) {
	title := c.Mechanism + ": what smaller ε and larger windows cost"
	left, right := slide(canvas, title, fmt.Sprintf("δ = %g · one line an ε", c.Delta), nil, 0.5)
	if c.numbers() {
		c.panel("± of a count at 95 %", func(p Point) float64 { return p.Count }).draw(left)
	} else {
		c.panel("rms error of a coordinate of the sum, loss units",
			func(p Point) float64 { return p.RMSCoordinate }).draw(left)
	}
	c.panel("ε at age 100 W", func(p Point) float64 { return float64(p.Hundred) }).draw(right)
}

// panel is a figure against the window, a line an ε.
func (c *Comparison) panel(name string, value func(Point) float64) panel {
	p := newPanel("window W, steps", name)
	p.Add(rules{across: true}, rules{})
	labels := &ends{}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = math.Inf(1), 0, math.Inf(1), 0
	for k, e := range c.epsilons() {
		var xy plotter.XYs
		for _, row := range c.Rows {
			if y := value(row); row.Epsilon == e && y > 0 && !math.IsInf(y, 1) {
				xy = append(xy, plotter.XY{X: float64(row.Window), Y: y})
				p.X.Min, p.X.Max = min(p.X.Min, float64(row.Window)), max(p.X.Max, float64(row.Window))
				p.Y.Min, p.Y.Max = min(p.Y.Min, y), max(p.Y.Max, y)
			}
		}
		if len(xy) == 0 {
			continue
		}
		slices.SortFunc(xy, func(a, b plotter.XY) int { return int(math.Copysign(1, a.X-b.X)) })
		l := looks[k%len(looks)].look
		p.Add(unranged{&plotter.Line{XYs: xy, LineStyle: l.line(2.4)}}, points{xy, l.color})
		labels.add(xy[len(xy)-1].Y, fmt.Sprintf("ε = %g", e), l.color)
	}
	if p.X.Max == 0 {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 1, 10, 1, 10
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = p.X.Min/1.3, p.X.Max*1.3, p.Y.Min/1.5, p.Y.Max*1.5
	p.X.Tick.Marker = logTicks(p.X.Min, p.X.Max, 6, short)
	p.Y.Tick.Marker = logTicks(p.Y.Min, p.Y.Max, 6, func(x float64) string { return digits(Number(x)) })
	p.Add(labels)
	return p
}

// epsilons are those of the rows, in their order.
func (c *Comparison) epsilons() []float64 {
	var all []float64
	for _, p := range c.Rows {
		if !slices.Contains(all, p.Epsilon) {
			all = append(all, p.Epsilon)
		}
	}
	return all
}

// points are dots, so that a line of one point is seen.
type points struct {
	xy    plotter.XYs
	color color.Color
}

func (d points) Plot(c draw.Canvas, p *plot.Plot) {
	for _, xy := range d.xy {
		at := vg.Point{X: c.X(p.X.Norm(xy.X)), Y: c.Y(p.Y.Norm(xy.Y))}
		c.DrawGlyph(draw.GlyphStyle{Color: d.color, Radius: 5, Shape: draw.CircleGlyph{}}, at)
	}
}
