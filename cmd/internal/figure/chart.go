package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is a panel of lines.
type Chart struct {
	X, Y     Axis
	Lines    []Line
	Legend   bool      // draw a legend in the upper left corner, kept free of lines. Both axes must be logarithmic
	Diagonal bool      // both axes show the same quantity, from 0: draw the line of equality, and dots on lines
	Settling bool      // the axis ignores the first twelfth of each line, which would flatten the rest
	Uprights []float64 // x positions of vertical lines
	Marks    []Mark
	Seconds  float64 // seconds per unit of x, for a second axis with durations at the top; 0: no such axis
}

// Line is a line of a chart. Lines without points are not drawn.
type Line struct {
	Name   string // name in the legend
	End    string // text at the right end; empty: none
	Bold   bool   // print the name in the legend in bold
	Look   Look
	Width  float64   // width in points; 0: 2
	Dashes []float64 // lengths of dashes in points; nil: those of the look
	Dots   bool      // draw dots at the points, so that a line of one point is visible
	Points []Point   // points from left to right
	Labels []Label   // one label for each point; nil: none
	Band   []Interval
	Truth  []Point // true values, drawn as dots, or as a dotted line if there are more than 40
}

// Point is a point of a line. A value of NaN, which stands for one that does not exist, interrupts the line.
type Point struct{ X, Y float64 }

// Interval is a point of a band. If it extends beyond the picture, the edge cuts the band and has a mark there. Ends of
// NaN, which stand for an interval that does not exist, interrupt the band.
type Interval struct{ X, Low, High float64 }

// Label is a text at a point. A label is omitted if it would overlap a bold label or an earlier one.
type Label struct {
	Text string
	Bold bool // print bold text, and draw a larger point
}

// Mark is a highlighted point. Its text is below it, at the bottom of the panel.
type Mark struct {
	X, Y float64
	Text string
	Look Look
}

func (c *Chart) panel(t theme) panel {
	p := newPanel(t, c.X.Name, c.Y.Name)
	x, y := c.spans()
	c.X.set(&p.X, x, 6)
	c.Y.set(&p.Y, y, 7)
	if !c.Y.NoGrid {
		p.Add(rules{t, true})
	}
	if !c.X.NoGrid {
		p.Add(rules{t, false})
	}
	if c.Seconds > 0 {
		p.Add(clock{t, c.Seconds})
	}
	p.Add(uprights{t, c.Uprights})
	if c.Diagonal {
		p.Add(diagonal{t})
	}
	ends := &ends{theme: t}
	for k := range c.Lines {
		line := &c.Lines[k]
		if height, drawn := line.height(p); drawn && line.End != "" {
			ends.add(height, line.End, line.Look)
		}
		if c.Legend { // the first line is drawn last, above the others
			line = &c.Lines[len(c.Lines)-1-k]
		}
		c.add(p, line, k)
	}
	if ends.labels != nil {
		p.Add(ends)
	}
	if c.Legend {
		p.Add(&legend{t, c.Lines})
	}
	p.Add(marks{t, c.Marks})
	return p
}

// add draws a line; k is the number of lines that were drawn before.
func (c *Chart) add(p panel, l *Line, k int) {
	if l.Band != nil {
		p.Add(unranged{l.band(p)}, cuts{l.Band, p.color(l.Look), k})
	}
	width := l.Width
	if width == 0 {
		width = 2
	}
	for _, run := range l.runs(p) {
		dots := c.Diagonal || l.Dots
		switch {
		case len(run) > 1:
			p.Add(unranged{&plotter.Line{XYs: run, LineStyle: p.stroke(l, width)}})
		case !dots: // a line of one point would be invisible
			p.Add(rings{run, p.color(l.Look)})
		}
		if dots {
			p.Add(dotted{run, p.color(l.Look)})
		}
	}
	if l.Labels != nil {
		p.Add(labelled{p.theme, l})
	}
	l.addTruth(p)
}

// runs returns the stretches of a line without interruption, as far as they are in the picture.
func (l *Line) runs(p panel) (runs []plotter.XYs) {
	open := false
	for _, at := range l.Points {
		switch {
		case math.IsNaN(at.Y):
			open = false
		case at.X >= p.X.Min && at.Y >= p.Y.Min && at.Y <= p.Y.Max:
			if !open {
				runs, open = append(runs, nil), true
			}
			runs[len(runs)-1] = append(runs[len(runs)-1], plotter.XY{X: at.X, Y: at.Y})
		}
	}
	return runs
}

// height returns the height of a line's right end: the line's last value, or its last truth if no value is in the
// picture.
func (l *Line) height(p panel) (y float64, drawn bool) {
	if runs := l.runs(p); runs != nil {
		last := runs[len(runs)-1]
		return last[len(last)-1].Y, true
	}
	for _, at := range slices.Backward(l.Truth) {
		if !math.IsNaN(at.Y) {
			return at.Y, true
		}
	}
	return 0, false
}

// spans returns the spans of both axes: those that the chart sets, or those that its lines need.
func (c *Chart) spans() (x, y span) {
	switch {
	case c.X.Log && c.Y.Log:
		x, y = c.logSpans()
	case slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Band != nil || l.Truth != nil }):
		x, y = c.bandSpans()
	default:
		x, y = c.linearSpans()
	}
	x = c.X.given(x)
	if c.Legend {
		y = legendSpan(c.Lines, x)
	}
	return x, c.Y.given(y)
}

// linearSpans returns spans for linear axes, which begin at 0 horizontally and leave a margin vertically.
func (c *Chart) linearSpans() (x, y span) {
	x, y = span{0, 0}, nowhere
	for _, l := range c.Lines {
		for i, at := range l.Points {
			x.max = max(x.max, at.X)
			if !c.Settling || i >= len(l.Points)/12 {
				y.add(at.Y)
			}
		}
	}
	x = x.or(span{0, 1})
	switch {
	case c.Diagonal:
		x.max = max(x.max, y.max)
		return x, x
	case y.min > y.max:
		return x, span{0, 1}
	}
	margin := 0.05*(y.max-y.min) + 1e-9
	return x, span{y.min - margin, y.max + margin}
}

// logSpans returns spans for logarithmic axes, which contain all positive values; if points are drawn as dots, they
// leave a margin on all sides.
func (c *Chart) logSpans() (x, y span) {
	x, y = nowhere, nowhere
	dots := false
	for _, l := range c.Lines {
		dots = dots || l.Dots
		for _, at := range l.Points {
			if at.X > 0 && at.Y > 0 {
				x.add(at.X)
				y.add(at.Y)
			}
		}
	}
	along, up := 1.0, 1.2
	if dots {
		along, up = 1.3, 1.5
	}
	if x.min > x.max {
		x, y = span{1, 10}, span{1, 10}
	}
	x, y = span{x.min / along, x.max * along}, span{y.min / up, y.max * up}
	return x.or(span{1, 10}), y
}

// diagonal draws the line on which both axes have equal values.
type diagonal struct{ theme }

func (d diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	from, to := at(c, p, p.X.Min, p.X.Min), at(c, p, p.X.Max, p.X.Max)
	c.StrokeLine2(draw.LineStyle{Color: d.quiet, Width: 1.2, Dashes: []vg.Length{4, 4}}, from.X, from.Y, to.X, to.Y)
}

// unranged keeps a plotter from setting the range of the axes.
type unranged struct{ plot.Plotter }
