package plan

import (
	"math"
	"testing"
)

// TestBandsKeepEveryNumber: the axis has room for each private number and each truth, however far apart they are. A
// number of which nothing is known interrupts the line alone.
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
