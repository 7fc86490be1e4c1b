package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mostDots is the largest number of truths (true values) that are drawn as dots; more are drawn as a line.
const mostDots = 40

// addTruth draws the truths of a line.
func (l *Line) addTruth(p panel) {
	var truth plotter.XYs
	for _, at := range l.Truth {
		if !math.IsNaN(at.Y) {
			truth = append(truth, plotter.XY{X: at.X, Y: at.Y})
		}
	}
	if len(truth) > mostDots {
		style := draw.LineStyle{Color: p.ink, Width: 1.2, Dashes: []vg.Length{2, 2}}
		p.Add(unranged{&plotter.Line{XYs: truth, LineStyle: style}})
	} else {
		p.Add(dotted{truth, p.color(l.Look)})
	}
}

// bandSpans returns spans with a margin. They contain each truth, and each value with half the median interval around
// it. A band may extend beyond the spans. If no value is shown, the spans contain the intervals instead.
func (c *Chart) bandSpans() (x, y span) {
	x, y = nowhere, nowhere
	half, shown := c.half()
	for _, l := range c.Lines {
		for _, at := range slices.Concat(l.Points, l.Truth) {
			x.add(at.X)
		}
		for _, at := range l.Truth {
			y.add(at.Y)
		}
		for _, at := range l.Points {
			y.add(at.Y - half)
			y.add(at.Y + half)
		}
		for _, at := range l.Band {
			if x.add(at.X); !shown {
				y.add(at.Low)
				y.add(at.High)
			}
		}
	}
	if x.min > x.max {
		x = span{0, 1}
	}
	if y.min > y.max {
		y = span{0, 1}
	}
	if x.max-x.min < 1e-9 {
		x.max = x.min + max(1, math.Abs(x.min))
	}
	margin := 0.3*(y.max-y.min) + 1e-9*math.Abs(y.max) + 1e-12
	return x, span{y.min - margin, y.max + margin}
}

// half returns half the median interval of the shown values; shown is false if there are none.
func (c *Chart) half() (half float64, shown bool) {
	var halves []float64
	for _, l := range c.Lines {
		for i, at := range l.Band {
			if i < len(l.Points) && !math.IsNaN(l.Points[i].Y) {
				halves = append(halves, (at.High-at.Low)/2)
			}
		}
	}
	if halves == nil {
		return 0, false
	}
	slices.Sort(halves)
	return halves[len(halves)/2], true
}

// band returns the areas between the ends of intervals, cut off at the panel's edges. An unknown interval interrupts
// the band. An interval without neighbours is a narrow bar.
func (l *Line) band(p panel) *plotter.Polygon {
	shade := p.color(l.Look)
	shade.A = 0x38
	area := &plotter.Polygon{Color: shade}
	inside := func(y float64) float64 { return max(p.Y.Min, min(p.Y.Max, y)) }
	for rest := l.Band; len(rest) > 0; {
		n := slices.IndexFunc(rest, Interval.unknown)
		if n < 0 {
			n = len(rest)
		}
		run := rest[:n]
		if rest = rest[min(n+1, len(rest)):]; n == 1 {
			x, half := run[0].X, (p.X.Max-p.X.Min)/200
			run = []Interval{{max(x-half, p.X.Min), run[0].Low, run[0].High}, {min(x+half, p.X.Max), run[0].Low, run[0].High}}
		}
		var around plotter.XYs
		for _, at := range run {
			around = append(around, plotter.XY{X: at.X, Y: inside(at.High)})
		}
		for _, at := range slices.Backward(run) {
			around = append(around, plotter.XY{X: at.X, Y: inside(at.Low)})
		}
		if around != nil {
			area.XYs = append(area.XYs, around)
		}
	}
	return area
}

func (at Interval) unknown() bool { return math.IsNaN(at.Low) || math.IsNaN(at.High) }

// mostCuts is the largest number of marks of one line for which an edge has room.
const mostCuts = 24

// cuts marks where intervals extend beyond the picture: a triangle at the edge points outwards. Marks of one line are
// below the marks of the previous line.
type cuts struct {
	band  []Interval
	color color.NRGBA
	line  int
}

// places returns the intervals that have a mark at the upper edge, and those that have one at the lower edge. Of each
// stretch of a band that an edge cuts, the first interval has a mark, and further intervals have one if there is room.
func (m cuts) places(low, high float64) (above, below []int) {
	every := max(1, (len(m.band)+mostCuts-1)/mostCuts)
	stretch := func(places []int, i int, before bool) []int {
		if n := len(places); before && i-places[n-1] < every {
			return places
		}
		return append(places, i)
	}
	for i, at := range m.band {
		if at.High > high {
			above = stretch(above, i, i > 0 && m.band[i-1].High > high)
		}
		if at.Low < low {
			below = stretch(below, i, i > 0 && m.band[i-1].Low < low)
		}
	}
	return above, below
}

func (m cuts) Plot(c draw.Canvas, p *plot.Plot) {
	const size = 4.5
	inside := 6 + 2*size*vg.Length(m.line)
	above, below := m.places(p.Y.Min, p.Y.Max)
	for _, i := range above {
		m.triangle(c, c.X(p.X.Norm(m.band[i].X)), c.Max.Y-inside, size)
	}
	for _, i := range below {
		m.triangle(c, c.X(p.X.Norm(m.band[i].X)), c.Min.Y+inside, -size)
	}
}

// triangle draws a triangle that points up if size is positive, otherwise down.
func (m cuts) triangle(c draw.Canvas, x, y, size vg.Length) {
	var path vg.Path
	path.Move(vg.Point{X: x - size, Y: y - size/2})
	path.Line(vg.Point{X: x + size, Y: y - size/2})
	path.Line(vg.Point{X: x, Y: y + size})
	path.Close()
	c.SetColor(m.color)
	c.Fill(path)
}

// rings draws the values that have no neighbours on their line.
type rings struct {
	xy    plotter.XYs
	color color.NRGBA
}

func (m rings) Plot(c draw.Canvas, p *plot.Plot) {
	const size = 5
	for _, xy := range m.xy {
		var path vg.Path
		center := at(c, p, xy.X, xy.Y)
		path.Move(vg.Point{X: center.X + size, Y: center.Y})
		path.Arc(center, size, 0, 2*math.Pi)
		path.Close()
		c.SetLineStyle(draw.LineStyle{Color: m.color, Width: 2})
		c.Stroke(path)
	}
}

// dotted draws the points of a line as dots.
type dotted struct {
	xy    plotter.XYs
	color color.NRGBA
}

func (d dotted) Plot(c draw.Canvas, p *plot.Plot) {
	for _, xy := range d.xy {
		circle(c, d.color, 5, at(c, p, xy.X, xy.Y))
	}
}
