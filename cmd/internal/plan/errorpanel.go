package plan

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// errorPanel is the error of every mechanism of the age panel that releases prefix sums, beside the optimum. Rows are
// dots and no bars: the axis is logarithmic, where the length of a bar would mean nothing.
func (r *Report) errorPanel() panel {
	if r.Numbers != nil {
		return r.Numbers.panel()
	}
	d := &dots{optimum: float64(r.Optimum.RMSCoordinate), name: "optimum"}
	if r.Setting.users() {
		d.name = "optimum for one event"
	}
	once := r.Setting.span() == 0
	for i := range r.Mechanisms {
		m := &r.Mechanisms[i]
		if !m.Configured && (factsOf(m.Name).Paper || factsOf(m.Name).PerStep != once) {
			continue
		}
		x := dot{
			name: m.called(), bold: m.Configured, look: lookOf(m.Name), value: m.RMSCoordinate,
			text: digits(Number(m.RMSCoordinate)),
		}
		switch {
		case factsOf(m.Name).Paper: // the optimum shown is another ε's
			x.aside = "  at ε = " + Upper(m.Epsilon)
		case m.OverOptimum.known():
			x.aside = "  variance " + Upper(m.OverOptimum) + " × optimum"
		}
		d.rows = append(d.rows, x)
	}
	return d.panel("rms error of a coordinate of the sum, loss units")
}

// panel has an axis as long as the rows need.
func (d *dots) panel(title string) panel {
	p := newPanel(title, "")
	low, high := math.Inf(1), 0.0
	for _, x := range d.rows {
		low, high = min(low, x.value), max(high, x.value)
	}
	if d.optimum > 0 {
		low, high = min(low, d.optimum), max(high, d.optimum)
	}
	p.X.Min, p.X.Max = low/1.6, high*2.2
	p.Y.Scale, p.Y.Min, p.Y.Max = plot.LinearScale{}, 0, 1
	p.HideY()
	p.X.Tick.Marker = logTicks(p.X.Min, p.X.Max, 6, func(x float64) string { return digits(Number(x)) })
	p.Add(rules{}, d)
	return p
}

// dots are one row a mechanism or view, the configured ones first.
type dots struct {
	rows    []dot
	optimum float64 // NaN when there is none
	name    string
}

// dot is a row.
type dot struct {
	name, aside, text string
	bold              bool
	look              style
	value             float64
}

func (d *dots) Plot(c draw.Canvas, p *plot.Plot) {
	top := c.Max.Y
	from := c.Min.X
	if d.optimum > 0 {
		x := c.X(p.X.Norm(d.optimum))
		style := writing(smallSize, ink, text.XLeft, text.YTop)
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.6}, x, c.Min.Y, x, top)
		c.FillText(style, vg.Point{X: x + 6, Y: top}, d.name+" "+digits(Number(d.optimum)))
		top -= smallSize * 1.6
		from = x
	}
	step := (top - c.Min.Y) / vg.Length(len(d.rows))
	for i, m := range d.rows {
		y := top - step*(vg.Length(i)+0.68)
		x := c.X(p.X.Norm(m.value))
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 1.6}, c.Min.X, y, x, y)
		c.DrawGlyph(draw.GlyphStyle{Color: m.look.color, Radius: 7, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
		name := writing(labelSize, ink, text.XLeft, text.YBottom)
		if m.bold {
			name = heavy(name)
		}
		small := writing(smallSize, quiet, text.XLeft, text.YBottom)
		wide := name.Width(m.name) + small.Width(m.aside)
		at := vg.Point{X: max(c.Min.X, min(from+6, c.Max.X-wide)), Y: y + 11}
		if at.X < from { // over the line of the optimum
			box := vg.Rectangle{Min: vg.Point{X: at.X - 3, Y: at.Y - 2}, Max: vg.Point{X: at.X + wide + 3, Y: at.Y + labelSize}}
			c.SetColor(paper)
			c.Fill(box.Path())
		}
		c.FillText(name, at, m.name)
		at.X += name.Width(m.name)
		c.FillText(small, at, m.aside)
		value := heavy(writing(smallSize, m.look.color, text.XLeft, text.YCenter))
		level(c, value, vg.Point{X: max(x, from) + 12, Y: y}, m.text)
	}
}
