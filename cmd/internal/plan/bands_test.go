package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
)

// TestBandsKeepEveryNumber: the axis has room for each private number and each truth, however far apart they are. A
// number that is not shown interrupts the line alone.
func TestBandsKeepEveryNumber(t *testing.T) {
	b := BandPanel{Lines: []BandLine{{Name: "a", Points: []BandPoint{
		{X: 0, Value: -900, Low: -1000, High: -800, Truth: 10},
		{X: 1, Value: math.NaN(), Low: -20000, High: 20000, Truth: 12},
		{X: 2, Value: 700, Low: 600, High: 800, Truth: math.NaN()},
		{X: 3, Value: 650, Low: 600, High: 700, Truth: 11},
	}}}}
	p := newPanel("", "")
	b.ranges(p)
	for _, y := range []float64{-900, 700, 650, 10, 12} {
		if y < p.Y.Min || y > p.Y.Max {
			t.Errorf("%g is not in [%g, %g]", y, p.Y.Min, p.Y.Max)
		}
	}
	if p.X.Min != 0 || p.X.Max != 3 || p.Y.Max > 2000 {
		t.Errorf("x in [%g, %g], y up to %g", p.X.Min, p.X.Max, p.Y.Max)
	}
	runs := b.Lines[0].runs()
	if len(runs) != 2 || len(runs[0]) != 1 || len(runs[1]) != 2 || runs[1][0].Y != 700 {
		t.Errorf("runs %v", runs)
	}
}

// TestBandsAreCutAtTheEdge: the area of a band stays within the picture, at the edge where its interval goes on.
func TestBandsAreCutAtTheEdge(t *testing.T) {
	run := []BandPoint{
		{X: 0, Low: -7, High: 9}, {X: 1, Low: -1, High: 2}, {X: 2, Low: 4, High: 8}, {X: 3, Low: -9, High: -6},
	}
	around := band(run, -5, 5, ink).(*plotter.Polygon).XYs[0]
	want := plotter.XYs{
		{X: 0, Y: 5}, {X: 1, Y: 2}, {X: 2, Y: 5}, {X: 3, Y: -5}, {X: 3, Y: -5}, {X: 2, Y: 4}, {X: 1, Y: -1}, {X: 0, Y: -5},
	}
	if !slices.Equal(around, want) {
		t.Errorf("%v, want %v", around, want)
	}
	above, below := cuts{points: run}.places(-5, 5)
	if !slices.Equal(above, []int{0, 2}) || !slices.Equal(below, []int{0, 3}) {
		t.Errorf("marks above at %v, below at %v", above, below)
	}
}

// TestEachCutHasAMark: of many points marks are far apart, but each stretch that is cut has one.
func TestEachCutHasAMark(t *testing.T) {
	points := make([]BandPoint, 10*mostCuts)
	for i := range points {
		points[i] = BandPoint{X: float64(i), Low: -1, High: 1}
	}
	points[7].High, points[9].High, points[13].Low = 9, 9, -9
	for i := 100; i < 125; i++ {
		points[i].High = 9
	}
	above, below := cuts{points: points}.places(-2, 2)
	if !slices.Equal(above, []int{7, 9, 100, 110, 120}) || !slices.Equal(below, []int{13}) {
		t.Errorf("marks above at %v, below at %v", above, below)
	}
}

// TestBandsDrawWhatTheySay: marks, rings, lines and dots of a panel are in the picture, each in the colour of its line.
func TestBandsDrawWhatTheySay(t *testing.T) {
	shapes := func(points ...BandPoint) (fills, strokes int) {
		t.Helper()
		panel := BandPanel{X: "x", Y: "y", Lines: []BandLine{{Name: "", Points: points}}}
		svg, err := render(&Bands{Left: panel, Right: panel}, ".svg")
		if err != nil {
			t.Fatal(err)
		}
		color := fmt.Sprintf("#%02X%02X%02X", looks[0].look.color.R, looks[0].look.color.G, looks[0].look.color.B)
		return strings.Count(string(svg), "fill:"+color), strings.Count(string(svg), "stroke:"+color)
	}
	nan := math.NaN()
	plain := []BandPoint{{0, 1, 0, 2, 1}, {1, 1, 0, 2, 1}, {2, 1, 0, 2, 1}}
	fills, strokes := shapes(plain...)
	if fills == 0 || strokes == 0 {
		t.Fatalf("%d areas and %d lines of a band", fills, strokes)
	}
	cut := slices.Clone(plain)
	cut[1].High = 2000
	if more, same := shapes(cut...); more != fills+2 || same != strokes {
		t.Errorf("a band that is cut has %d areas and %d lines, want %d and %d", more, same, fills+2, strokes)
	}
	lone := slices.Clone(plain)
	lone[1].Value = nan // two rings in place of a line, in each panel
	if same, more := shapes(lone...); same != fills || more != strokes+2 {
		t.Errorf("lone numbers have %d areas and %d lines, want %d and %d", same, more, fills, strokes+2)
	}
	lone[0].Value, lone[2].Value = nan, nan
	if same, none := shapes(lone...); same != fills || none != 0 {
		t.Errorf("no number has %d areas and %d lines, want %d and none", same, none, fills)
	}
}

// TestTicksHaveSigns: labels below 0 are as short as those above, and 0 has no sign.
func TestTicksHaveSigns(t *testing.T) {
	var labels []string
	for _, tick := range linearTicks(-20_000, 20_000, 5) {
		labels = append(labels, tick.Label)
	}
	if want := []string{"-20 k", "-10 k", "0", "10 k", "20 k"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}
