package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"oriel/cmd/internal/digits"
)

// Axis is an axis of a chart.
type Axis struct {
	Name     string
	Log      bool     // logarithmic axis; omits values that are not positive
	Min, Max float64  // range; both 0: the range of the data
	Ticks    int      // largest number of labelled ticks; 0: 6 on a horizontal axis, 7 on a vertical one
	Fine     bool     // more ticks than 1, 2 and 5 in a decade, for a logarithmic axis of about a decade
	Full     bool     // a logarithmic axis has labels in the format of digits.Four, not of digits.Short
	NoGrid   bool     // omit the faint lines at the ticks
	Places   []string // names of 0, 1, 2, …; nil: values are numbers
}

// span is the range of an axis.
type span struct{ min, max float64 }

// nowhere is the empty span.
var nowhere = span{math.Inf(1), math.Inf(-1)}

// add extends a span to a value; NaN does not change it.
func (s *span) add(x float64) {
	if !math.IsNaN(x) {
		s.min, s.max = min(s.min, x), max(s.max, x)
	}
}

// or returns the other span if a span has no length.
func (s span) or(other span) span {
	if s.min < s.max {
		return s
	}
	return other
}

// given returns the range that the axis sets, or the range of the data if the axis sets none.
func (a Axis) given(data span) span {
	if a.Min != 0 || a.Max != 0 {
		return span{a.Min, a.Max}
	}
	return data
}

// set sets the range and the ticks of a plotted axis.
func (a Axis) set(on *plot.Axis, s span, most int) {
	if a.Ticks > 0 {
		most = a.Ticks
	}
	on.Scale, on.Min, on.Max = plot.LinearScale{}, s.min, s.max
	if a.Log {
		on.Scale = plot.LogScale{}
	}
	label := digits.Short
	if a.Full {
		label = digits.Four[float64]
	}
	switch {
	case a.Places != nil:
		on.Tick.Marker = placeTicks(a.Places, s)
	case a.Fine:
		on.Tick.Marker = fineTicks(s)
	case a.Log:
		on.Tick.Marker = logTicks(s, most, label)
	default:
		on.Tick.Marker = linearTicks(s, most)
	}
}

// logTicks marks 1, 2 and 5 of each decade of a short range. It marks each decade of a long range, and every few
// decades of a very long one.
func logTicks(s span, most int, label func(float64) string) plot.ConstantTicks {
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

// fineTicks marks a short logarithmic range from 1 on at 1, 1.5, 2, 3, 4, 5, 7 and their decades.
func fineTicks(s span) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for decade := 1.0; decade <= s.max; decade *= 10 {
		for _, k := range []float64{1, 1.25, 1.5, 2, 3, 4, 5, 7} {
			if x := k * decade; x >= s.min && x <= s.max {
				ticks = append(ticks, plot.Tick{Value: x, Label: digits.Four(x)})
			}
		}
	}
	return ticks
}

// linearTicks marks multiples of 1, 2 or 5 times a power of ten, with at most the given number of ticks.
func linearTicks(s span, most int) plot.ConstantTicks {
	step := math.Pow(10, math.Floor(math.Log10((s.max-s.min)/float64(most))))
	for _, k := range []float64{1, 2, 5, 10} {
		if (s.max-s.min)/(k*step) <= float64(most) {
			step *= k
			break
		}
	}
	label := func(x float64) string {
		if x < 0 {
			return "-" + digits.Short(-x)
		}
		return digits.Short(x)
	}
	if step < 1 {
		label = func(x float64) string { return digits.Four(math.Round(x/step) * step) }
	}
	var ticks plot.ConstantTicks
	for k := math.Ceil(s.min / step); k*step <= s.max; k++ {
		ticks = append(ticks, plot.Tick{Value: k * step, Label: label(k * step)})
	}
	return ticks
}

// placeTicks labels integer positions with names. If there are too many names, it shows only some.
func placeTicks(names []string, s span) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	every := max(1, (len(names)+11)/12)
	for i, name := range names {
		if i%every == 0 && float64(i) >= s.min && float64(i) <= s.max {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
		}
	}
	return ticks
}

// panel is a plot with the names of its axes. The package draws these names itself, because gonum/plot would shrink
// logarithmic axes to make room for them.
type panel struct {
	*plot.Plot
	theme
	x, y string
}

// newPanel returns a panel in the slide's style; ranges and ticks are set by the caller.
func newPanel(t theme, x, y string) panel {
	p := panel{plot.New(), t, x, y}
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Width, axis.Color = axisWeight, t.quiet
		axis.Tick.Width, axis.Tick.Color, axis.Tick.Length = axisWeight, t.quiet, 6
		axis.Padding = 0
	}
	p.X.Tick.Label = writing(smallSize, t.ink, text.XCenter, text.YTop)
	p.Y.Tick.Label = writing(smallSize, t.ink, text.XRight, text.YCenter)
	return p
}

// inner returns the part of a canvas that the names of the axes leave free.
func (p panel) inner(c draw.Canvas) draw.Canvas {
	c.Min.Y += labelSize * 1.7
	if p.y != "" {
		c.Min.X += labelSize * 1.8
	}
	return c
}

func (p panel) draw(c draw.Canvas) {
	style := writing(labelSize, p.ink, text.XCenter, text.YBottom)
	inner := p.inner(c)
	data := p.DataCanvas(inner)
	middle := min(max((data.Min.X+data.Max.X)/2, c.Min.X+style.Width(p.x)/2), c.Max.X-style.Width(p.x)/2)
	c.FillText(style, vg.Point{X: middle, Y: c.Min.Y}, p.x)
	if p.y != "" {
		style.Rotation, style.YAlign = math.Pi/2, text.YTop
		c.FillText(style, vg.Point{X: c.Min.X, Y: (data.Min.Y + data.Max.Y) / 2}, p.y)
	}
	p.Draw(inner)
}

// at returns the position of a point on a canvas.
func at(c draw.Canvas, p *plot.Plot, x, y float64) vg.Point {
	return vg.Point{X: c.X(p.X.Norm(x)), Y: c.Y(p.Y.Norm(y))}
}

// rules are faint lines at the labelled ticks of an axis.
type rules struct {
	theme
	across bool
}

func (r rules) Plot(c draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: r.faint, Width: 0.8}
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
