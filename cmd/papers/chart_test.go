package papers

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"oriel/cmd/internal/digits"
)

// chart is a panel of lines on two logarithmic axes, which show positive values only.
type chart struct {
	x, y  string
	full  bool // the horizontal axis has labels of four digits, in place of 1 k and 1 M
	lines []line
}

// line is a line of a chart. Its points are from left to right.
type line struct {
	name   string // label at the right end; empty: none
	points plotter.XYs
}

// span is the range of an axis.
type span struct{ min, max float64 }

// spans returns ranges that contain all positive values, with a margin above and below.
func (c chart) spans() (x, y span) {
	x, y = span{math.Inf(1), 0}, span{math.Inf(1), 0}
	for _, l := range c.lines {
		for _, at := range l.points {
			if at.X > 0 && at.Y > 0 {
				x, y = span{min(x.min, at.X), max(x.max, at.X)}, span{min(y.min, at.Y), max(y.max, at.Y)}
			}
		}
	}
	return x, span{y.min / 1.2, y.max * 1.2}
}

func (c chart) draw(on draw.Canvas) {
	p := plot.New()
	p.BackgroundColor = nil
	x, y := c.spans()
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Width, axis.Color = axisWeight, quiet
		axis.Tick.Width, axis.Tick.Color, axis.Tick.Length = axisWeight, quiet, 6
		axis.Padding, axis.Scale = 0, plot.LogScale{}
	}
	p.X.Tick.Label = writing(smallSize, ink, text.XCenter, text.YTop)
	p.Y.Tick.Label = writing(smallSize, ink, text.XRight, text.YCenter)
	label := digits.Short
	if c.full {
		label = digits.Four[float64]
	}
	p.X.Min, p.X.Max, p.X.Tick.Marker = x.min, x.max, ticks(x, 6, label)
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = y.min, y.max, ticks(y, 7, digits.Short)
	p.Add(rules{true}, rules{false})
	names := &labels{}
	for k, l := range c.lines {
		var points plotter.XYs
		for _, at := range l.points {
			if at.Y > 0 {
				points = append(points, at)
			}
		}
		if points == nil {
			continue
		}
		look := looks[k%len(looks)]
		look.Width = 1.8
		p.Add(unranged{&plotter.Line{XYs: points, LineStyle: look}})
		if l.name != "" {
			names.heights = append(names.heights, points[len(points)-1].Y)
			names.names, names.colors = append(names.names, l.name), append(names.colors, look.Color)
		}
	}
	if names.names != nil {
		p.Add(names)
	}
	// gonum/plot would shrink logarithmic axes to make room for their names.
	inner := on
	inner.Min.Y += labelSize * 1.7
	inner.Min.X += labelSize * 1.8
	style, data := writing(labelSize, ink, text.XCenter, text.YBottom), p.DataCanvas(inner)
	half := style.Width(c.x) / 2
	middle := min(max((data.Min.X+data.Max.X)/2, on.Min.X+half), on.Max.X-half)
	on.FillText(style, vg.Point{X: middle, Y: on.Min.Y}, c.x)
	style.Rotation, style.YAlign = math.Pi/2, text.YTop
	on.FillText(style, vg.Point{X: on.Min.X, Y: (data.Min.Y + data.Max.Y) / 2}, c.y)
	p.Draw(inner)
}

// ticks marks 1, 2 and 5 of each decade of a short range. It marks each decade of a long range, and every few decades
// of a very long one.
func ticks(s span, most int, label func(float64) string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	decades := math.Log10(s.max / s.min)
	every := max(1, int(math.Ceil(decades/float64(most))))
	for e := int(math.Floor(math.Log10(s.min))); e <= int(math.Ceil(math.Log10(s.max))); e++ {
		for k := 1; k < 10; k++ {
			x := float64(k) * math.Pow(10, float64(e))
			if x < s.min*(1-1e-9) || x > s.max*(1+1e-9) {
				continue
			}
			mark := ""
			if k == 1 && e%every == 0 || (k == 2 || k == 5) && 3*decades <= float64(most) {
				mark = label(x)
			}
			if mark != "" || every == 1 {
				ticks = append(ticks, plot.Tick{Value: x, Label: mark})
			}
		}
	}
	return ticks
}

// rules are faint lines at the labelled ticks of an axis.
type rules struct{ across bool }

func (r rules) Plot(c draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: faint, Width: 0.8}
	axis := p.X
	if r.across {
		axis = p.Y
	}
	for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
		switch at := axis.Norm(tick.Value); {
		case tick.IsMinor() || at < 0 || at > 1:
		case r.across:
			c.StrokeLine2(style, c.Min.X, c.Y(at), c.Max.X, c.Y(at))
		default:
			c.StrokeLine2(style, c.X(at), c.Min.Y, c.X(at), c.Max.Y)
		}
	}
}

// unranged keeps a plotter from setting the range of the axes.
type unranged struct{ plot.Plotter }

func TestEndLabelsDoNotOverlap(t *testing.T) {
	got := distinct([]vg.Length{10, 10, 50, 11}, 8, 0, 60)
	sorted := slices.Clone(got)
	slices.Sort(sorted)
	for i := 1; i < len(sorted); i++ {
		if sorted[i]-sorted[i-1] < 7.99 {
			t.Errorf("%v: too near", got)
		}
	}
	if got[2] != 50 || !(got[0] < got[1] && got[1] < got[3]) {
		t.Errorf("%v: moved without need, or out of order", got)
	}
}
