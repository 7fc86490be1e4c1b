package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"oriel/cmd/internal/figure"
)

// Slide draws errors and losses against the window, with one line for each ε.
func (c *Comparison) Slide() *figure.Slide {
	name, value := "rms error of a coordinate of the sum, loss units", func(p Point) float64 { return p.RMSCoordinate }
	if c.numbers() {
		name, value = "± of a count at 95 %", func(p Point) float64 { return p.Count }
	}
	return &figure.Slide{
		Title:    c.Mechanism + ": the cost of smaller ε and larger windows",
		Subtitle: fmt.Sprintf("δ = %g · one line for each ε", c.Delta),
		Left:     c.chart(name, value), Share: 0.5,
		Right: c.chart("ε at age 100 W", func(p Point) float64 { return float64(p.Hundred) }),
	}
}

// chart draws a figure against the window, with one line for each ε.
func (c *Comparison) chart(name string, value func(Point) float64) *figure.Chart {
	chart := &figure.Chart{
		X: figure.Axis{Name: "window W, steps", Log: true}, Y: figure.Axis{Name: name, Log: true, Ticks: 6, Full: true},
	}
	for k, e := range c.epsilons() {
		line := figure.Line{End: fmt.Sprintf("ε = %g", e), Look: figure.Look(k), Width: 2.4, Dots: true}
		for _, row := range c.Rows {
			if y := value(row); row.Epsilon == e && y > 0 && !math.IsInf(y, 1) {
				line.Points = append(line.Points, figure.Point{X: float64(row.Window), Y: y})
			}
		}
		slices.SortFunc(line.Points, func(a, b figure.Point) int { return cmp.Compare(a.X, b.X) })
		chart.Lines = append(chart.Lines, line)
	}
	return chart
}

// epsilons returns the ε of the rows, in their order.
func (c *Comparison) epsilons() []float64 {
	var all []float64
	for _, p := range c.Rows {
		if !slices.Contains(all, p.Epsilon) {
			all = append(all, p.Epsilon)
		}
	}
	return all
}
