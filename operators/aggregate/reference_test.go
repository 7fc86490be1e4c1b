package aggregate

import (
	"math"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// TestCanariesReachTheSensitivity checks that an audit's canary events are at the distance for which noise is
// calibrated, in every specification. It is exact for two cells, and within a per cent for one cell, because values do
// not lie exactly at the edges of bins.
func TestCanariesReachTheSensitivity(t *testing.T) {
	for _, lines := range [][]string{
		{"CELLS=a=x|y|z"},
		{"CELLS=a=x", "ELSEWHERE=other", "WEIGHT_MAX=3"},
		{"VALUE=v=0:1", "STATISTICS=mean"},
		{"VALUE=v=0:1", "STATISTICS=mean,variance*2"},
		{"VALUE=v=0:1", "STATISTICS=p50"},
		{"VALUE=v=0:1", "STATISTICS=p50*0.5,mean", "BINS=100"},
		{"VALUE=v=0:1", "STATISTICS=p50,variance", "BINS=400"},
		{"VALUE=v=0:1", "STATISTICS=variance*3,mean*0.5"},
		{"CELLS=a=x|y", "VALUE=v=0:1", "STATISTICS=p50,count"},
		{"CELLS=a=x|y,b=0:1:3", "VALUE=v=0:1", "STATISTICS=p50*0.2,mean*3", "WEIGHT_MAX=2"},
	} {
		m := total(2)
		m.Unit = protection.Event{Exchange: dp.Replace}
		c, m := config(t, m, lines...)
		grid, hot := mechtest.Plan(t, m).Component(0).Grid, c.spec.hot()
		square, _ := hot.Distances(grid)
		claim := math.Sqrt(lattice.Grid{}.Float64(square))
		for _, u := range [][]float64{{1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0}} {
			model := newReference(c.spec)
			var leaves [2][]int64
			one, two := model.Canary(u, 1)
			for i, r := range []operators.Record{one, two} {
				numbers := make([]float64, hot.Entries())
				if !model.Contribution(numbers, r) {
					t.Fatalf("%v: canary %d adds nothing", lines, i)
				}
				leaves[i] = make([]int64, hot.Size())
				hot.Quantise(grid, leaves[i], numbers)
			}
			for i, x := range leaves[1] {
				leaves[0][i] -= x
			}
			got := math.Sqrt(lattice.Grid{}.Float64(lattice.SquaredLength(leaves[0])))
			if got < 0.99*claim || got > claim {
				t.Errorf("%v along %v: %g apart, the noise is for %g", lines, u, got, claim)
			}
		}
	}
}
