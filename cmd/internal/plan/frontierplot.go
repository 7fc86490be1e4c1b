package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"oriel/mechanisms/blt"
)

var _ Figure = (*Frontier)(nil)

func (f *Frontier) draw(c draw.Canvas) {
	title := fmt.Sprintf("blt: a little more noise now, far less privacy loss later (W = %d)", f.Window)
	left, right := slide(c, title, "each point is a filter, certified; the number is its age weight", []string{optimumNote}, 0.55)
	f.compromisePanel().draw(left)
	f.filterPanel().draw(right)
}

// compromisePanel is variance against ageing.
func (f *Frontier) compromisePanel() panel {
	p := newPanel("growth of the loss with age: µ(100 W) / µ(W)", "variance / optimum")
	points := make(plotter.XYs, len(f.Compromises))
	for i, c := range f.Compromises {
		points[i] = plotter.XY{X: c.Hundred, Y: c.OverOptimum}
	}
	xmin, xmax, ymin, ymax := plotter.XYRange(points)
	p.X.Min, p.X.Max = xmin/1.12, xmax*1.12
	p.Y.Scale = plot.LinearScale{}
	p.Y.Min, p.Y.Max = min(1, ymin), ymax+(ymax-1)*0.12
	p.X.Tick.Marker = quarterTicks(p.X.Min, p.X.Max)
	p.Y.Tick.Marker = evenTicks(p.Y.Min, p.Y.Max)
	line := &plotter.Line{XYs: points, LineStyle: lookOf(filtered).line(2.4)}
	p.Add(rules{across: true}, rules{}, line, &compromises{f.Compromises, points})
	return p
}

// compromises are the points with their age weights.
type compromises struct {
	rows   []Tradeoff
	points plotter.XYs
}

// Plot labels the configured point first and leaves out labels that would run into another.
func (k *compromises) Plot(c draw.Canvas, p *plot.Plot) {
	order := make([]int, len(k.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return place(k.rows[a]) - place(k.rows[b]) })
	var taken []vg.Rectangle
	for _, i := range order {
		r := k.rows[i]
		at := vg.Point{X: c.X(p.X.Norm(k.points[i].X)), Y: c.Y(p.Y.Norm(k.points[i].Y))}
		style := writing(smallSize, quiet, text.XLeft, text.YBottom)
		label := strconv.FormatFloat(r.Weight, 'g', -1, 64)
		radius := vg.Length(5.5)
		if r.Configured {
			style = heavy(writing(labelSize, ink, text.XLeft, text.YBottom))
			label += " configured"
			radius = 9
			c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: radius, Shape: draw.CircleGlyph{}}, at)
		}
		c.DrawGlyph(draw.GlyphStyle{Color: lookOf(filtered).color, Radius: 5.5, Shape: draw.CircleGlyph{}}, at)
		at.X += radius + 4
		at.Y += 3
		room := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + style.Width(label), Y: at.Y + style.Font.Size}}
		if !slices.ContainsFunc(taken, func(t vg.Rectangle) bool { return overlap(room, t) }) {
			c.FillText(style, at, label)
			taken = append(taken, room)
		}
	}
}

// place is 0 for the configured row, 1 for others.
func place(c Tradeoff) int {
	if c.Configured {
		return 0
	}
	return 1
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// filterPanel is the certified variance of each number of poles, and of the tree, for all windows.
func (f *Frontier) filterPanel() panel {
	p := newPanel("window W, steps (m poles, age weight 0)", "variance / optimum")
	labels := &ends{}
	styles := []draw.LineStyle{
		{Color: lookOf("tree-gaussian-paper").color, Width: 2.4, Dashes: []vg.Length{3, 3}},
		{Color: lookOf("tree-gamma").color, Width: 2.4, Dashes: []vg.Length{11, 4}},
		{Color: lookOf(filtered).color, Width: 3.2},
	}
	high := 0.0
	add := func(name string, style draw.LineStyle, value func(r Filter) (float64, bool)) {
		var xy plotter.XYs
		for _, r := range f.Filters {
			if y, ok := value(r); ok {
				xy = append(xy, plotter.XY{X: float64(r.Window), Y: y})
				high = max(high, y)
			}
		}
		p.Add(&plotter.Line{XYs: xy, LineStyle: style})
		end := xy[len(xy)-1].Y
		labels.add(end, name+" "+Upper(Number(end)), style.Color)
	}
	p.Add(rules{across: true})
	add("tree:", lookOf("tree-gaussian").line(2.4), func(r Filter) (float64, bool) {
		return r.TreeMean / r.Optimum,
			r.Poles == blt.MinPoles
	})
	for m := blt.MinPoles; m <= blt.MaxPoles; m++ {
		add(fmt.Sprintf("m = %d:", m), styles[m-blt.MinPoles],
			func(r Filter) (float64, bool) { return r.OverOptimum, r.Poles == m })
	}
	ends := plotter.XYs{{X: float64(f.Filters[0].Window), Y: 1}, {X: float64(f.Filters[len(f.Filters)-1].Window), Y: 1}}
	p.Add(&plotter.Line{XYs: ends, LineStyle: draw.LineStyle{Color: ink, Width: 1.6}})
	labels.add(1, "optimum", ink)
	p.Add(labels)
	p.X.Min, p.X.Max = float64(f.Filters[0].Window), float64(f.Filters[len(f.Filters)-1].Window)
	p.Y.Min, p.Y.Max = 0.92, high*1.3
	p.X.Tick.Marker = logTicks(p.X.Min, p.X.Max, 4, short)
	p.Y.Tick.Marker = logTicks(p.Y.Min, p.Y.Max, 6, func(x float64) string { return digits(Number(x)) })
	return p
}

// quarterTicks mark a short logarithmic range at 1, 1.5, 2, 3, 4, 5, 7 and their decades.
func quarterTicks(low, high float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for decade := 1.0; decade <= high; decade *= 10 {
		for _, k := range []float64{1, 1.25, 1.5, 2, 3, 4, 5, 7} {
			if x := k * decade; x >= low && x <= high {
				ticks = append(ticks, plot.Tick{Value: x, Label: digits(Number(x))})
			}
		}
	}
	return ticks
}

// evenTicks mark a linear range at about five round numbers.
func evenTicks(low, high float64) plot.ConstantTicks {
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	for _, k := range []float64{0.1, 0.2, 0.5} {
		if (high-low)/(step*k) <= 7 {
			step *= k
			break
		}
	}
	var ticks plot.ConstantTicks
	for k := math.Ceil(low/step - 1e-9); k*step <= high; k++ {
		ticks = append(ticks, plot.Tick{Value: k * step, Label: digits(Number(k * step))})
	}
	return ticks
}
