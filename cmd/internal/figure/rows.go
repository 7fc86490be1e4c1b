package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"oriel/cmd/internal/digits"
)

// Rows is a panel of values on a logarithmic axis, one value below the other. Values are dots instead of bars, because
// the length of a bar has no meaning on a logarithmic axis. A slide has room for ten rows.
type Rows struct {
	Name      string // name of the axis
	Rows      []Row
	Reference float64 // x position of a vertical line; 0 or NaN: none
	Called    string  // label of the reference line
}

// Row is one value, which must be positive, with its texts.
type Row struct {
	Name, Detail string // text above the dot; Detail is in smaller letters
	Text         string // text beside the dot
	Bold         bool
	Look         Look
	Value        float64
}

func (r *Rows) panel(t theme) panel {
	p := newPanel(t, r.Name, "")
	x := nowhere
	for _, row := range r.Rows {
		x.add(row.Value)
	}
	if r.Reference > 0 {
		x.add(r.Reference)
	}
	x = span{x.min / 1.6, x.max * 2.2}
	Axis{Log: true, Full: true}.set(&p.X, x.or(span{1, 10}), 6)
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Add(rules{t, false}, dots{t, r})
	return p
}

type dots struct {
	theme
	*Rows
}

func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	top := c.Max.Y
	from := c.Min.X
	if d.Reference > 0 {
		x := c.X(p.X.Norm(d.Reference))
		style := writing(smallSize, d.ink, text.XLeft, text.YTop)
		c.StrokeLine2(draw.LineStyle{Color: d.ink, Width: 1.6}, x, c.Min.Y, x, top)
		c.FillText(style, vg.Point{X: x + 6, Y: top}, d.Called+" "+digits.Four(d.Reference))
		top -= smallSize * 1.6
		from = x
	}
	step := (top - c.Min.Y) / vg.Length(len(d.Rows.Rows))
	for i, m := range d.Rows.Rows {
		y := top - step*(vg.Length(i)+0.68)
		x := c.X(p.X.Norm(m.Value))
		c.StrokeLine2(draw.LineStyle{Color: d.faint, Width: 1.6}, c.Min.X, y, x, y)
		circle(c, d.color(m.Look), 7, vg.Point{X: x, Y: y})
		name := writing(labelSize, d.ink, text.XLeft, text.YBottom)
		if m.Bold {
			name = heavy(name)
		}
		small := writing(smallSize, d.quiet, text.XLeft, text.YBottom)
		wide := name.Width(m.Name) + small.Width(m.Detail)
		at := vg.Point{X: max(c.Min.X, min(from+6, c.Max.X-wide)), Y: y + 11}
		if at.X < from { // the text would cross the reference line, so it is beside it
			box := vg.Rectangle{Min: vg.Point{X: at.X - 3, Y: at.Y - 2}, Max: vg.Point{X: at.X + wide + 3, Y: at.Y + labelSize}}
			c.SetColor(d.paper)
			c.Fill(box.Path())
		}
		c.FillText(name, at, m.Name)
		at.X += name.Width(m.Name)
		c.FillText(small, at, m.Detail)
		value := heavy(writing(smallSize, d.color(m.Look), text.XLeft, text.YCenter))
		level(c, value, vg.Point{X: max(x, from) + 12, Y: y}, m.Text)
	}
}
