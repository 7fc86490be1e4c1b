package plan

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bands is a slide of two panels with linear axes: numbers within their intervals, and the truth beside them.
type Bands struct {
	Title, Subtitle string
	Notes           []string
	Left, Right     BandPanel
}

// BandPanel is one panel. Numbers and truths decide how high it is: every one of them is in the picture. A band that
// goes on beyond is cut at the edge, with a mark there.
type BandPanel struct {
	X, Y   string
	Places []string // names of x = 0, 1, 2, …; nil: x is a number
	Lines  []BandLine
}

// BandLine is a number at several places. A number that is NaN, because decisions do not show it, interrupts the line
// and not the band.
type BandLine struct {
	Name   string
	Points []BandPoint
}

// BandPoint is a number in its interval; the truth may be NaN.
type BandPoint struct{ X, Value, Low, High, Truth float64 }

var _ Figure = (*Bands)(nil)

func (b *Bands) draw(canvas draw.Canvas) {
	left, right := slide(canvas, b.Title, b.Subtitle, b.Notes, 0.55)
	b.Left.panel().draw(left)
	b.Right.panel().draw(right)
}

// dotted is up to how many truths are drawn as points; more are a line.
const dotted = 40

func (b *BandPanel) panel() panel {
	p := newPanel(b.X, b.Y)
	p.X.Scale, p.Y.Scale = plot.LinearScale{}, plot.LinearScale{}
	p.Add(rules{across: true}, rules{})
	b.ranges(p)
	labels := &ends{}
	for k, l := range b.Lines {
		look := looks[k%len(looks)].look
		shade := look.color
		shade.A = 0x38
		var truth plotter.XYs
		last := math.NaN()
		p.Add(unranged{band(l.Points, p.Y.Min, p.Y.Max, shade)})
		for _, run := range l.runs() {
			if len(run) == 1 { // a line of one place would not be seen
				p.Add(rings{run, look.color})
			} else {
				p.Add(unranged{&plotter.Line{XYs: run, LineStyle: look.line(2)}})
			}
			last = run[len(run)-1].Y
		}
		p.Add(cuts{l.Points, look.color, k})
		for _, at := range l.Points {
			if !math.IsNaN(at.Truth) {
				truth = append(truth, plotter.XY{X: at.X, Y: at.Truth})
			}
		}
		if len(truth) > dotted {
			style := draw.LineStyle{Color: ink, Width: 1.2, Dashes: []vg.Length{2, 2}}
			p.Add(unranged{&plotter.Line{XYs: truth, LineStyle: style}})
		} else {
			p.Add(points{truth, look.color})
		}
		if math.IsNaN(last) && len(truth) > 0 {
			last = truth[len(truth)-1].Y
		}
		if !math.IsNaN(last) {
			labels.add(last, l.Name, look.color)
		}
	}
	p.Add(labels)
	return p
}

// ranges are those of truths and of numbers with half their median interval around them, and a margin. Where no number
// is shown they are those of the intervals.
func (b *BandPanel) ranges(p panel) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	half, shown := b.half()
	for _, l := range b.Lines {
		for _, at := range l.Points {
			p.X.Min, p.X.Max = min(p.X.Min, at.X), max(p.X.Max, at.X)
			ends := [2]float64{at.Value - half, at.Value + half}
			if !shown {
				ends = [2]float64{at.Low, at.High}
			}
			for _, y := range [3]float64{at.Truth, ends[0], ends[1]} {
				if !math.IsNaN(y) {
					p.Y.Min, p.Y.Max = min(p.Y.Min, y), max(p.Y.Max, y)
				}
			}
		}
	}
	if p.X.Min > p.X.Max {
		p.X.Min, p.X.Max = 0, 1
	}
	if p.Y.Min > p.Y.Max {
		p.Y.Min, p.Y.Max = 0, 1
	}
	if p.X.Max-p.X.Min < 1e-9 {
		p.X.Max = p.X.Min + 1
	}
	margin := 0.3*(p.Y.Max-p.Y.Min) + 1e-9*math.Abs(p.Y.Max) + 1e-12
	p.Y.Min, p.Y.Max = p.Y.Min-margin, p.Y.Max+margin
	p.Y.Tick.Marker = linearTicks(p.Y.Min, p.Y.Max, 7)
	if b.Places == nil {
		p.X.Tick.Marker = linearTicks(p.X.Min, p.X.Max, 5)
		return
	}
	var ticks plot.ConstantTicks
	every := max(1, (len(b.Places)+11)/12)
	for i, name := range b.Places {
		if i%every == 0 && float64(i) >= p.X.Min && float64(i) <= p.X.Max {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
		}
	}
	p.X.Tick.Marker = ticks
}

// half is half the median interval of the numbers that are shown, if there are any.
func (b *BandPanel) half() (half float64, shown bool) {
	var halves []float64
	for _, l := range b.Lines {
		for _, at := range l.Points {
			if !math.IsNaN(at.Value) {
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

// runs are the stretches of a line without interruption.
func (l BandLine) runs() (runs []plotter.XYs) {
	open := false
	for _, at := range l.Points {
		if math.IsNaN(at.Value) {
			open = false
			continue
		}
		if !open {
			runs, open = append(runs, nil), true
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], plotter.XY{X: at.X, Y: at.Value})
	}
	return runs
}

// band is the area between the ends of intervals, cut off at the panel's.
func band(run []BandPoint, low, high float64, shade color.NRGBA) plot.Plotter {
	var around plotter.XYs
	for _, at := range run {
		around = append(around, plotter.XY{X: at.X, Y: max(low, min(high, at.High))})
	}
	for i := len(run) - 1; i >= 0; i-- {
		around = append(around, plotter.XY{X: run[i].X, Y: max(low, min(high, run[i].Low))})
	}
	return &plotter.Polygon{XYs: []plotter.XYs{around}, Color: shade}
}

// mostCuts is how many marks of one line an edge has room for.
const mostCuts = 24

// cuts mark where intervals go on beyond the picture: a triangle at the edge, which points out of it. Marks of one line
// are below the marks of the line before.
type cuts struct {
	points []BandPoint
	color  color.NRGBA
	line   int
}

// places are the points with a mark at the upper and at the lower edge: the first of each stretch of a band that is
// cut there, and further ones as far apart as there is room for.
func (m cuts) places(low, high float64) (above, below []int) {
	every := max(1, (len(m.points)+mostCuts-1)/mostCuts)
	stretch := func(places []int, i int, before bool) []int {
		if n := len(places); before && i-places[n-1] < every {
			return places
		}
		return append(places, i)
	}
	for i, at := range m.points {
		if at.High > high {
			above = stretch(above, i, i > 0 && m.points[i-1].High > high)
		}
		if at.Low < low {
			below = stretch(below, i, i > 0 && m.points[i-1].Low < low)
		}
	}
	return above, below
}

func (m cuts) Plot(c draw.Canvas, p *plot.Plot) {
	const size = 4.5
	inside := 6 + 2*size*vg.Length(m.line)
	above, below := m.places(p.Y.Min, p.Y.Max)
	for _, i := range above {
		m.triangle(c, c.X(p.X.Norm(m.points[i].X)), c.Max.Y-inside, size)
	}
	for _, i := range below {
		m.triangle(c, c.X(p.X.Norm(m.points[i].X)), c.Min.Y+inside, -size)
	}
}

// rings are numbers without neighbours on their line.
type rings struct {
	at    plotter.XYs
	color color.NRGBA
}

func (m rings) Plot(c draw.Canvas, p *plot.Plot) {
	for _, at := range m.at {
		var path vg.Path
		center := vg.Point{X: c.X(p.X.Norm(at.X)), Y: c.Y(p.Y.Norm(at.Y))}
		path.Move(vg.Point{X: center.X + ringSize, Y: center.Y})
		path.Arc(center, ringSize, 0, 2*math.Pi)
		path.Close()
		c.SetLineStyle(draw.LineStyle{Color: m.color, Width: 2})
		c.Stroke(path)
	}
}

const ringSize = 5

// triangle points up where size is positive, else down.
func (m cuts) triangle(c draw.Canvas, x, y, size vg.Length) {
	var path vg.Path
	path.Move(vg.Point{X: x - size, Y: y - size/2})
	path.Line(vg.Point{X: x + size, Y: y - size/2})
	path.Line(vg.Point{X: x, Y: y + size})
	path.Close()
	c.SetColor(m.color)
	c.Fill(path)
}
