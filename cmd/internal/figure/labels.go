package figure

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ends labels each line of a panel at the line's right end.
type ends struct {
	theme
	heights []float64
	labels  []string
	looks   []Look
}

func (e *ends) add(height float64, label string, l Look) {
	e.heights, e.labels, e.looks = append(e.heights, height), append(e.labels, label), append(e.looks, l)
}

func (e *ends) style(i int) text.Style {
	return heavy(writing(smallSize, e.color(e.looks[i]), text.XLeft, text.YCenter))
}

func (e *ends) Plot(c draw.Canvas, p *plot.Plot) {
	heights := make([]vg.Length, len(e.heights))
	for i, y := range e.heights {
		heights[i] = c.Y(p.Y.Norm(y))
	}
	for i, y := range distinct(heights, smallSize*1.15, c.Min.Y, c.Max.Y) {
		level(c, e.style(i), vg.Point{X: c.Max.X + 11, Y: y}, e.labels[i])
	}
}

// GlyphBoxes reserves room for the labels at the right.
func (e *ends) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	widest := vg.Length(0)
	for i, label := range e.labels {
		widest = max(widest, e.style(i).Width(label))
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: widest + 12, Y: 1}}}}
}

// distinct moves heights as little as possible, so that neighbours are at least gap apart and all are within [low,
// high]. It keeps their order.
func distinct(heights []vg.Length, gap, low, high vg.Length) []vg.Length {
	order := make([]int, len(heights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(heights[a], heights[b]) })
	out := slices.Clone(heights)
	for range 100 { // each pass halves the remaining overlap
		for k := 1; k < len(order); k++ {
			a, b := order[k-1], order[k]
			if short := gap - (out[b] - out[a]); short > 0 {
				out[a] -= short / 2
				out[b] += short / 2
			}
		}
		for _, i := range order {
			out[i] = min(max(out[i], low), high)
		}
	}
	return out
}

const (
	legendShare = 0.66 // width of the legend as a share of the panel's width
	legendLine  = 23   // height of a line of the legend, points
	panelHeight = 340
)

// legendSpan returns a range of a logarithmic axis with room for the legend in the upper left corner.
func legendSpan(lines []Line, x span) span {
	least, most, early := math.Inf(1), 0.0, 0.0
	for _, l := range lines {
		for _, at := range l.Points {
			if !(at.Y > 0) { // a logarithmic axis shows only positive values
				continue
			}
			least, most = min(least, at.Y), max(most, at.Y)
			if math.Log(at.X/x.min) <= legendShare*math.Log(x.max/x.min) {
				early = max(early, at.Y)
			}
		}
	}
	if most == 0 {
		return span{0.1, 10}
	}
	// Shares of the panel's height: bottom for the lowest point, middle for the highest point below the legend, top for
	// the highest point.
	const bottom, top = 0.1, 0.96
	middle := top - (float64(len(lines))*legendLine+10)/panelHeight
	height := max(math.Log(most/least)/(top-bottom), math.Log(early/least)/(middle-bottom), math.Log(3))
	return span{least * math.Exp(-bottom*height), least * math.Exp((1-bottom)*height)}
}

// legend draws the names of the lines in the upper left corner, where no line passes.
type legend struct {
	theme
	lines []Line
}

func (g *legend) style(l *Line) text.Style {
	style := writing(labelSize, g.ink, text.XLeft, text.YCenter)
	if l.Bold {
		return heavy(style)
	}
	return style
}

// box returns the area of the legend in a panel.
func (g *legend) box(c draw.Canvas) vg.Rectangle {
	widest := vg.Length(0)
	for i := range g.lines {
		widest = max(widest, g.style(&g.lines[i]).Width(g.lines[i].Name))
	}
	return vg.Rectangle{
		Min: vg.Point{X: c.Min.X + 6, Y: c.Max.Y - 6 - legendLine*vg.Length(len(g.lines))},
		Max: vg.Point{X: c.Min.X + 68 + widest, Y: c.Max.Y - 0.8},
	}
}

func (g *legend) Plot(c draw.Canvas, _ *plot.Plot) {
	box := g.box(c)
	c.SetColor(g.paper)
	c.Fill(box.Path())
	y := c.Max.Y - 15
	for i := range g.lines {
		l := &g.lines[i]
		c.StrokeLine2(g.stroke(l, 3), c.Min.X+12, y, c.Min.X+54, y)
		level(c, g.style(l), vg.Point{X: c.Min.X + 62, Y: y}, l.Name)
		y -= legendLine
	}
}

// uprights are vertical lines across the panel.
type uprights struct {
	theme
	at []float64
}

func (u uprights) Plot(c draw.Canvas, p *plot.Plot) {
	for _, at := range u.at {
		x := c.X(p.X.Norm(at))
		c.StrokeLine2(draw.LineStyle{Color: u.quiet, Width: 1, Dashes: []vg.Length{2, 3}}, x, c.Min.Y, x, c.Max.Y)
	}
}

type marks struct {
	theme
	all []Mark
}

func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	for _, mark := range m.all {
		on := at(c, p, mark.X, mark.Y)
		circle(c, m.paper, 7.5, on)
		circle(c, m.color(mark.Look), 6, on)
		style := heavy(writing(smallSize, m.ink, text.XLeft, text.YBottom))
		x := min(on.X+8, c.Max.X-style.Width(mark.Text)-8)
		c.FillText(style, vg.Point{X: x, Y: c.Min.Y + 9}, mark.Text)
	}
}

// labelled draws the labels of a line's points.
type labelled struct {
	theme
	*Line
}

// Plot draws labels, those of bold points first. It omits labels that would overlap another.
func (k labelled) Plot(c draw.Canvas, p *plot.Plot) {
	var taken []vg.Rectangle
	for _, bold := range []bool{true, false} {
		for i, label := range k.Labels {
			if label.Bold != bold {
				continue
			}
			on, radius := at(c, p, k.Points[i].X, k.Points[i].Y), vg.Length(5.5)
			style := writing(smallSize, k.quiet, text.XLeft, text.YBottom)
			if bold {
				style, radius = heavy(writing(labelSize, k.ink, text.XLeft, text.YBottom)), 9
				circle(c, k.ink, radius, on)
			}
			circle(c, k.color(k.Look), 5.5, on)
			on.X += radius + 4
			on.Y += 3
			room := vg.Rectangle{Min: on, Max: vg.Point{X: on.X + style.Width(label.Text), Y: on.Y + style.Font.Size}}
			if !slices.ContainsFunc(taken, func(t vg.Rectangle) bool { return overlap(room, t) }) {
				c.FillText(style, on, label.Text)
				taken = append(taken, room)
			}
		}
	}
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// clock is a second axis at the top. It shows the positions of the horizontal axis as durations.
type clock struct {
	theme
	seconds float64 // seconds per unit of x
}

const day = 86400.0 // seconds per day

// moments are the possible ticks of a clock, the more important ones first.
var moments = []struct {
	name    string
	seconds float64
}{
	{"1 s", 1},
	{"1 min", 60},
	{"1 h", 3600},
	{"1 d", day},
	{"1 y", 365 * day},
	{"100 y", 36500 * day},
	{"1 ms", 1e-3},
	{"1 µs", 1e-6},
	{"30 d", 30 * day},
	{"10 y", 3650 * day},
	{"7 d", 7 * day},
	{"10 min", 600},
	{"10 s", 10},
	{"6 h", 6 * 3600},
}

func (k clock) Plot(c draw.Canvas, p *plot.Plot) {
	axis := draw.LineStyle{Color: k.quiet, Width: axisWeight}
	style := writing(smallSize, k.quiet, text.XCenter, text.YBottom)
	c.StrokeLine2(axis, c.Min.X, c.Max.Y, c.Max.X, c.Max.Y)
	type room struct{ from, to vg.Length }
	var taken []room
	for _, m := range moments {
		x := c.X(p.X.Norm(m.seconds / k.seconds))
		half := style.Width(m.name)/2 + 8
		overlaps := slices.ContainsFunc(taken, func(r room) bool { return x-half < r.to && x+half > r.from })
		if x < c.Min.X || x > c.Max.X+1 || overlaps {
			continue
		}
		c.StrokeLine2(axis, x, c.Max.Y, x, c.Max.Y+5)
		c.FillText(style, vg.Point{X: x, Y: c.Max.Y + 6}, m.name)
		taken = append(taken, room{x - half, x + half})
	}
}

// GlyphBoxes reserves room for the clock above the panel.
func (k clock) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: 1, Y: 8 + smallSize}}}}
}
