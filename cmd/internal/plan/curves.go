package plan

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curves is a slide of two panels that share their lines: what was learned, against time and beside something else.
type Curves struct {
	Title, Subtitle string
	Notes           []string
	Left, Right     Axes
	Lines           []CurveLine
}

// Axes are the names of a panel's axes, which are linear. A diagonal is drawn where both are the same quantity.
type Axes struct {
	X, Y     string
	Diagonal bool
	Log      bool // both are logarithmic: what is not above zero is left out
}

// CurveLine is a line of both panels; a panel of which it has no points leaves it out.
type CurveLine struct {
	Name        string
	Bold        bool
	Left, Right [][2]float64
}

var _ Figure = (*Curves)(nil)

func (c *Curves) draw(canvas draw.Canvas) {
	left, right := slide(canvas, c.Title, c.Subtitle, c.Notes, 0.62)
	c.panel(c.Left, true, func(l CurveLine) [][2]float64 { return l.Left }).draw(left)
	c.panel(c.Right, false, func(l CurveLine) [][2]float64 { return l.Right }).draw(right)
}

// panel draws a line each; their names stand beside the ends where they are named.
func (c *Curves) panel(a Axes, named bool, of func(CurveLine) [][2]float64) panel {
	p := newPanel(a.X, a.Y)
	p.Add(rules{across: true}, rules{})
	if a.Log {
		c.spanLog(p, of)
	} else {
		c.spanLinear(p, a, of)
	}
	labels := &ends{}
	for k, l := range c.Lines {
		var xy plotter.XYs
		for _, at := range of(l) {
			if at[0] >= p.X.Min && at[1] >= p.Y.Min && at[1] <= p.Y.Max { // no NaN is
				xy = append(xy, plotter.XY{X: at[0], Y: at[1]})
			}
		}
		if len(xy) == 0 {
			continue
		}
		look := looks[k%len(looks)].look
		width := vg.Length(1.8)
		if l.Bold {
			width = 2.8
		}
		p.Add(unranged{&plotter.Line{XYs: xy, LineStyle: look.line(width)}})
		if a.Diagonal {
			p.Add(points{xy, look.color})
		}
		labels.add(xy[len(xy)-1].Y, l.Name, look.color)
	}
	if named {
		p.Add(labels)
	}
	return p
}

// spanLinear sets ranges and ticks of linear axes.
func (c *Curves) spanLinear(p panel, a Axes, of func(CurveLine) [][2]float64) {
	p.X.Scale, p.Y.Scale = plot.LinearScale{}, plot.LinearScale{}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 0, math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for i, xy := range of(l) {
			p.X.Max = max(p.X.Max, xy[0])
			if !a.Diagonal && i < len(of(l))/12 { // what the first steps lose would flatten the rest
				continue
			}
			p.Y.Min, p.Y.Max = min(p.Y.Min, xy[1]), max(p.Y.Max, xy[1])
		}
	}
	switch {
	case a.Diagonal:
		p.X.Max = max(p.X.Max, p.Y.Max)
		p.Y.Min, p.Y.Max = 0, p.X.Max
		p.Add(diagonal{})
	case p.Y.Min > p.Y.Max:
		p.Y.Min, p.Y.Max = 0, 1
	default:
		margin := 0.05*(p.Y.Max-p.Y.Min) + 1e-9
		p.Y.Min, p.Y.Max = p.Y.Min-margin, p.Y.Max+margin
	}
	if p.X.Max == 0 {
		p.X.Max = 1
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks(p.X.Min, p.X.Max, 6), linearTicks(p.Y.Min, p.Y.Max, 7)
}

// spanLog sets ranges and ticks of logarithmic axes: all that is above zero.
func (c *Curves) spanLog(p panel, of func(CurveLine) [][2]float64) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = math.Inf(1), 0, math.Inf(1), 0
	for _, l := range c.Lines {
		for _, xy := range of(l) {
			if xy[0] > 0 && xy[1] > 0 {
				p.X.Min, p.X.Max = min(p.X.Min, xy[0]), max(p.X.Max, xy[0])
				p.Y.Min, p.Y.Max = min(p.Y.Min, xy[1]), max(p.Y.Max, xy[1])
			}
		}
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		if !(axis.Min < axis.Max) { // one value, or none
			axis.Min, axis.Max = 1, 10
		}
	}
	p.Y.Min, p.Y.Max = p.Y.Min/1.2, p.Y.Max*1.2
	p.X.Tick.Marker, p.Y.Tick.Marker = logTicks(p.X.Min, p.X.Max, 6, short), logTicks(p.Y.Min, p.Y.Max, 7, short)
}

// linearTicks marks multiples of 1, 2 or 5 times a power of ten, at most so many.
func linearTicks(low, high float64, most int) plot.ConstantTicks {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(most))))
	for _, k := range []float64{1, 2, 5, 10} {
		if (high-low)/(k*step) <= float64(most) {
			step *= k
			break
		}
	}
	label := func(x float64) string {
		if x < 0 {
			return "-" + short(-x)
		}
		return short(math.Abs(x)) // 0 has no sign
	}
	if step < 1 {
		label = func(x float64) string { return digits(Number(math.Round(x/step) * step)) }
	}
	var ticks plot.ConstantTicks
	for k := math.Ceil(low / step); k*step <= high; k++ {
		ticks = append(ticks, plot.Tick{Value: k * step, Label: label(k * step)})
	}
	return ticks
}

// diagonal is where both axes say the same.
type diagonal struct{}

func (diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	c.StrokeLine2(draw.LineStyle{Color: quiet, Width: 1.2, Dashes: []vg.Length{4, 4}}, c.X(p.X.Norm(p.X.Min)),
		c.Y(p.Y.Norm(p.X.Min)),
		c.X(p.X.Norm(p.X.Max)), c.Y(p.Y.Norm(p.X.Max)))
}
