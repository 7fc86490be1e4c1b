package plan

import (
	"image/color"
	"math"

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

// BandPanel is one panel. The truth decides how high it is: bands and numbers beyond are cut off.
type BandPanel struct {
	X, Y   string
	Places []string // names of x = 0, 1, 2, …; nil: x is a number
	Lines  []BandLine
}

// BandLine is a number at several places. One that is NaN interrupts the line.
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
		var last float64
		for _, run := range l.runs(p.Y.Min, p.Y.Max) {
			p.Add(unranged{band(run, p.Y.Min, p.Y.Max, shade)})
			var xy plotter.XYs
			for _, at := range run {
				xy = append(xy, plotter.XY{X: at.X, Y: at.Value})
			}
			p.Add(unranged{&plotter.Line{XYs: xy, LineStyle: look.line(2)}})
			last = xy[len(xy)-1].Y
		}
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
		if len(truth) > 0 {
			labels.add(last, l.Name, look.color)
		}
	}
	p.Add(labels)
	return p
}

// ranges are those of the truths, and a margin.
func (b *BandPanel) ranges(p panel) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range b.Lines {
		for _, at := range l.Points {
			if !math.IsNaN(at.Truth) {
				p.X.Min, p.X.Max = min(p.X.Min, at.X), max(p.X.Max, at.X)
				p.Y.Min, p.Y.Max = min(p.Y.Min, at.Truth), max(p.Y.Max, at.Truth)
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

// runs are the stretches of a line without interruption, of numbers within the panel.
func (l BandLine) runs(low, high float64) (runs [][]BandPoint) {
	open := false
	for _, at := range l.Points {
		if !(at.Value >= low && at.Value <= high) || math.IsNaN(at.Truth) {
			open = false
			continue
		}
		if !open {
			runs, open = append(runs, nil), true
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], at)
	}
	return runs
}

// band is the area between the ends of intervals, cut off at the panel's.
func band(run []BandPoint, low, high float64, shade color.NRGBA) plot.Plotter {
	var around plotter.XYs
	for _, at := range run {
		around = append(around, plotter.XY{X: at.X, Y: min(high, at.High)})
	}
	for i := len(run) - 1; i >= 0; i-- {
		around = append(around, plotter.XY{X: run[i].X, Y: max(low, run[i].Low)})
	}
	return &plotter.Polygon{XYs: []plotter.XYs{around}, Color: shade}
}
