package reproduce

import (
	"math/rand/v2"
	"testing"
)

// TestLongHulls checks the long form of hulls. On a simplex and on a flow, blt at ε = 1 loses less than always playing
// the middle of the set, and hardly more than without noise. A Γ tree loses twice as much. No action was outside the
// set, because otherwise the table would not exist.
func TestLongHulls(t *testing.T) {
	got := kept(t, hulls)
	for _, column := range []int{0, 2} {
		inOrder(t, got, []order{
			{"blt", "middle", column, 1.3},
			{"blt", "Gauss", column, 1.2},
			{"Gauss", "Γ", column, 1.4},
			{"Γ", "middle", column + 1, 1.3},
		})
		if got["blt"][column] > 1.15*got["no noise"][column] {
			t.Errorf("column %d: blt loses %g, %g without noise", column, got["blt"][column], got["no noise"][column])
		}
	}
}

// TestPlaysOfHullsStayInside checks that vertices, their mixes and actions count as inside. Points off the hull, or
// with a negative coordinate, must count as outside, and a run must end at such an action.
func TestPlaysOfHullsStayInside(t *testing.T) {
	for column, h := range hullSets {
		w := newMixes(h, rand.New(rand.NewPCG(1, 2)))
		for _, v := range append(h.vertices, w.fixed) {
			if !h.contains(v) {
				t.Errorf("%v is not in its set", v)
			}
		}
		for _, out := range [][]float64{{1.1, 0, 0, -0.1, 0}, {0.5, 0.5, 0.5, 0.5, 0.5}} {
			if h.contains(out) {
				t.Errorf("%v is in the set", out)
			}
		}
		curve, err := playHulls(t.Context(), Cell{Row: 2, Column: column, Seed: 1, Steps: 1000})
		if err != nil || len(curve) != len(Marks(1000)) {
			t.Errorf("%s: %v", hulls.Columns[column].Name, err)
		}
	}
}
