package frontier

import (
	"fmt"
	"slices"
	"strconv"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/figure"
	"oriel/mechanisms/blt"
)

// Mechanisms have the looks that they have on the slides of `oriel plan`.
const (
	lookOfBlt figure.Look = iota
	lookOfTreeGaussian
	lookOfTreeGamma
	_
	lookOfOnce
)

// Slide draws the variance of filters against the growth of µ with age, and the variance of each filter.
func (f *Frontier) Slide() *figure.Slide {
	return &figure.Slide{
		Title:    fmt.Sprintf("blt: a little more noise now, far less privacy loss later (W = %d)", f.Window),
		Subtitle: "each point is a filter, certified; the number is its age weight",
		Notes: []string{
			"optimum: the smallest error that any data-independent Gaussian mechanism can have with the same guarantee",
		},
		Left: f.compromises(), Right: f.filters(), Share: 0.55,
	}
}

// compromises draws variance against ageing.
func (f *Frontier) compromises() *figure.Chart {
	line := figure.Line{Look: lookOfBlt, Width: 2.4}
	var growths, variances []float64
	for _, c := range f.Compromises {
		label := figure.Label{Text: strconv.FormatFloat(c.Weight, 'g', -1, 64), Bold: c.Weight == f.Weight}
		if label.Bold {
			label.Text += " chosen"
		}
		line.Points = append(line.Points, figure.Point{X: c.Hundred, Y: c.Ratio})
		line.Labels = append(line.Labels, label)
		growths, variances = append(growths, c.Hundred), append(variances, c.Ratio)
	}
	most := slices.Max(variances)
	return &figure.Chart{
		X: figure.Axis{
			Name: "growth of the loss with age: µ(100 W) / µ(W)", Log: true, Fine: true,
			Min: slices.Min(growths) / 1.12, Max: slices.Max(growths) * 1.12,
		},
		Y:     figure.Axis{Name: "variance / optimum", Min: min(1, slices.Min(variances)), Max: most + (most-1)*0.12},
		Lines: []figure.Line{line},
	}
}

// filters draws the certified variance of each number of poles, and of the tree, for all windows.
func (f *Frontier) filters() *figure.Chart {
	styles := []figure.Line{
		{Look: lookOfOnce, Width: 2.4, Dashes: []float64{3, 3}},
		{Look: lookOfTreeGamma, Width: 2.4, Dashes: []float64{11, 4}},
		{Look: lookOfBlt, Width: 3.2},
	}
	high := 0.0
	var lines []figure.Line
	add := func(name string, line figure.Line, poles int, value func(TableRow) float64) {
		for _, r := range f.Filters {
			if r.Poles == poles {
				line.Points = append(line.Points, figure.Point{X: float64(r.Window), Y: value(r)})
				high = max(high, value(r))
			}
		}
		line.End = name + " " + digits.Upper(line.Points[len(line.Points)-1].Y)
		lines = append(lines, line)
	}
	add("tree:", figure.Line{Look: lookOfTreeGaussian, Width: 2.4}, blt.MinPoles,
		func(r TableRow) float64 { return r.TreeMean / r.Optimum })
	for m := blt.MinPoles; m <= blt.MaxPoles; m++ {
		add(fmt.Sprintf("m = %d:", m), styles[m-blt.MinPoles], m, func(r TableRow) float64 { return r.Ratio })
	}
	first, last := float64(f.Filters[0].Window), float64(f.Filters[len(f.Filters)-1].Window)
	lines = append(lines, figure.Line{
		End: "optimum", Look: figure.Ink, Width: 1.6, Points: []figure.Point{{X: first, Y: 1}, {X: last, Y: 1}},
	})
	return &figure.Chart{
		X: figure.Axis{
			Name: "window W, steps (m poles, age weight 0)", Log: true, Min: first, Max: last, Ticks: 4, NoGrid: true,
		},
		Y:     figure.Axis{Name: "variance / optimum", Log: true, Min: 0.92, Max: high * 1.3, Ticks: 6, Full: true},
		Lines: lines,
	}
}
