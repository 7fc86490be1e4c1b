package papers

import (
	"slices"
	"testing"
)

// claimsOfWindows checks windows. With four times the dimension, a Γ tree loses about four times as
// much, and a Gaussian tree about twice as much. From W = 64 to 16 384 the losses of both grow, by no more than their
// bounds. Regret is proportional to 1/ε. In every column the regret of blt is below that of the Gaussian tree, and the
// Gaussian tree's is below the Γ tree's.
func claimsOfWindows(t *testing.T, got figures) {
	t.Helper()
	for _, c := range []struct {
		row         string
		from, to    int
		least, most float64
	}{
		{"Γ", 0, 1, 3, 4.2},
		{"Gauss", 0, 1, 1.2, 2.1},
		{"blt", 0, 1, 1.1, 2.1},
		{"Γ", 3, 4, 1.5, 3.6},
		{"Gauss", 3, 4, 1.2, 2.4},
		{"blt", 3, 4, 1.2, 2.4},
		{"Γ", 0, 6, 7, 16},
		{"Gauss", 0, 6, 7, 13},
		{"blt", 0, 6, 7, 13},
	} {
		if times := got[c.row][c.to] / got[c.row][c.from]; !(times >= c.least && times <= c.most) {
			t.Errorf("%s, from %s to %s: %.2f times, want %g to %g", c.row, windows.Columns[c.from].Name,
				windows.Columns[c.to].Name, times, c.least, c.most)
		}
	}
	for column := range windows.Columns {
		inOrder(t, got, []order{{"none", "blt", column, 10}, {"blt", "Gauss", column, 1.5}, {"Gauss", "Γ", column, 1.2}})
	}
}

// claimsOfGaps checks gaps. Regret must be within both bounds at all marks, noise must increase it,
// and half the gap must have twice the bound. At a gap of 0.4 and ε = 100 the bound with the gap must be smaller than
// the bound without it, and smaller than the loss of always playing the worse arm.
func claimsOfGaps(t *testing.T, got figures) {
	t.Helper()
	for column := range gaps.Columns {
		inOrder(t, got, []order{
			{"blt", "Theorem 5", column, 100},
			{"tree", "Theorem 6", column, 100},
			{"blt", "tree", column, 1.2},
			{"blt", "most", column, 100},
		})
	}
	inOrder(t, got, []order{{"none", "blt", 0, 10}, {"Theorem 6", "Theorem 5", 2, 1.1}, {"Theorem 5", "most", 2, 1.5}})
	for column := range 3 {
		if times := got["Theorem 6"][column+3] / got["Theorem 6"][column]; times < 1.9 || times > 2.2 {
			t.Errorf("half the gap has %.2f times the bound", times)
		}
	}
}

// TestGapsAreLearned checks the short form: a bandit with a gap is within its bounds at every mark, and at ε = 10 loses
// at most a tenth of the worse arm's loss.
func TestGapsAreLearned(t *testing.T) {
	curve := func(row string) []Point {
		at := slices.IndexFunc(gaps.Rows, func(r Row) bool { return r.Name == row })
		points, err := playGaps(t.Context(), Cell{Row: at, Column: 1, Seed: 1, Steps: 2000})
		if err != nil {
			t.Fatal(err)
		}
		return points
	}
	lost, with, without, most := curve("blt"), curve("Theorem 6"), curve("Theorem 5"), curve("most")
	for i, p := range lost {
		if p.Value > with[i].Value || p.Value > without[i].Value || most[i].Step != p.Step {
			t.Errorf("step %d: regret %g, within %g and %g", p.Step, p.Value, with[i].Value, without[i].Value)
		}
	}
	if last := len(lost) - 1; lost[last].Value > most[last].Value/10 {
		t.Errorf("regret %g of %g", lost[last].Value, most[last].Value)
	}
}
