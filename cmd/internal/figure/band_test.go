package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
)

// banded is a line of values that each have an interval and a truth.
func banded(rows ...[5]float64) (l Line) {
	for _, r := range rows { // a row has x, value, low, high and truth
		l.Points = append(l.Points, Point{r[0], r[1]})
		l.Band = append(l.Band, Interval{r[0], r[2], r[3]})
		l.Truth = append(l.Truth, Point{r[0], r[4]})
	}
	return l
}

// TestBandsKeepEveryNumber checks that the axis has room for each private number and each truth, however distant they
// are. A number that is not shown must interrupt only the line.
func TestBandsKeepEveryNumber(t *testing.T) {
	c := &Chart{Lines: []Line{banded(
		[5]float64{0, -900, -1000, -800, 10}, [5]float64{1, math.NaN(), -20000, 20000, 12},
		[5]float64{2, 700, 600, 800, math.NaN()}, [5]float64{3, 650, 600, 700, 11},
	)}}
	p := c.panel(light)
	for _, y := range []float64{-900, 700, 650, 10, 12} {
		if y < p.Y.Min || y > p.Y.Max {
			t.Errorf("%g is not in [%g, %g]", y, p.Y.Min, p.Y.Max)
		}
	}
	if p.X.Min != 0 || p.X.Max != 3 || p.Y.Max > 2000 {
		t.Errorf("x in [%g, %g], y up to %g", p.X.Min, p.X.Max, p.Y.Max)
	}
	runs := c.Lines[0].runs(p)
	if len(runs) != 2 || len(runs[0]) != 1 || len(runs[1]) != 2 || runs[1][0].Y != 700 {
		t.Errorf("runs %v", runs)
	}
}

// TestUnknownIntervalsInterruptBands checks that no area spans an unknown interval, and that an interval between two
// unknown ones is a narrow bar.
func TestUnknownIntervalsInterruptBands(t *testing.T) {
	none := math.NaN()
	l := Line{Band: []Interval{{0, none, none}, {1, -1, 2}, {2, -2, 1}, {3, none, 5}, {4, 0, 1}, {5, none, none}}}
	p := newPanel(light, "", "")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 5, -5, 5
	areas := l.band(p).XYs
	if len(areas) != 2 || len(areas[0]) != 4 || len(areas[1]) != 4 || areas[0][0].X != 1 || areas[0][1].X != 2 {
		t.Fatalf("%v", areas)
	}
	if width := areas[1][1].X - areas[1][0].X; !(width > 0 && width < 0.1) || areas[1][0].X > 4 || areas[1][1].X < 4 {
		t.Errorf("a bar from %g to %g", areas[1][0].X, areas[1][1].X)
	}
}

// TestBandsAreCutAtTheEdge checks that the area of a band stays within the picture, and reaches the edge that cuts it.
func TestBandsAreCutAtTheEdge(t *testing.T) {
	l := Line{Band: []Interval{{0, -7, 9}, {1, -1, 2}, {2, 4, 8}, {3, -9, -6}}}
	p := newPanel(light, "", "")
	p.Y.Min, p.Y.Max = -5, 5
	around := l.band(p).XYs[0]
	want := plotter.XYs{
		{X: 0, Y: 5}, {X: 1, Y: 2}, {X: 2, Y: 5}, {X: 3, Y: -5}, {X: 3, Y: -5}, {X: 2, Y: 4}, {X: 1, Y: -1}, {X: 0, Y: -5},
	}
	if !slices.Equal(around, want) {
		t.Errorf("%v, want %v", around, want)
	}
	above, below := cuts{band: l.Band}.places(-5, 5)
	if !slices.Equal(above, []int{0, 2}) || !slices.Equal(below, []int{0, 3}) {
		t.Errorf("marks above at %v, below at %v", above, below)
	}
}

// TestEachCutHasAMark checks that marks of many points are spaced, and that each stretch that an edge cuts has at least
// one mark.
func TestEachCutHasAMark(t *testing.T) {
	band := make([]Interval, 10*mostCuts)
	for i := range band {
		band[i] = Interval{X: float64(i), Low: -1, High: 1}
	}
	band[7].High, band[9].High, band[13].Low = 9, 9, -9
	for i := 100; i < 125; i++ {
		band[i].High = 9
	}
	above, below := cuts{band: band}.places(-2, 2)
	if !slices.Equal(above, []int{7, 9, 100, 110, 120}) || !slices.Equal(below, []int{13}) {
		t.Errorf("marks above at %v, below at %v", above, below)
	}
}

// TestBandsDrawMarksInTheirColour checks that a panel draws its marks, rings, lines and dots, each in the colour of its
// line.
func TestBandsDrawMarksInTheirColour(t *testing.T) {
	shapes := func(l Line) (fills, strokes int) {
		t.Helper()
		panel := &Chart{X: Axis{Name: "x"}, Y: Axis{Name: "y"}, Lines: []Line{l}}
		svg, err := (&Slide{Left: panel, Right: panel, Share: 0.55}).SVG()
		if err != nil {
			t.Fatal(err)
		}
		c := Look(0).Color(false)
		color := fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)
		return strings.Count(string(svg), "fill:"+color), strings.Count(string(svg), "stroke:"+color)
	}
	plain := func() Line {
		return banded([5]float64{0, 1, 0, 2, 1}, [5]float64{1, 1, 0, 2, 1}, [5]float64{2, 1, 0, 2, 1})
	}
	fills, strokes := shapes(plain())
	if fills == 0 || strokes == 0 {
		t.Fatalf("%d areas and %d lines of a band", fills, strokes)
	}
	cut := plain()
	cut.Band[1].High = 2000
	if more, same := shapes(cut); more != fills+2 || same != strokes {
		t.Errorf("a band that is cut has %d areas and %d lines, want %d and %d", more, same, fills+2, strokes)
	}
	nan, lone := math.NaN(), plain()
	lone.Points[1].Y = nan // each panel now has two rings in place of a line
	if same, more := shapes(lone); same != fills || more != strokes+2 {
		t.Errorf("lone numbers have %d areas and %d lines, want %d and %d", same, more, fills, strokes+2)
	}
	lone.Points[0].Y, lone.Points[2].Y = nan, nan
	if same, none := shapes(lone); same != fills || none != 0 {
		t.Errorf("no number has %d areas and %d lines, want %d and none", same, none, fills)
	}
}
