package papers

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// figures has the means of a table by the name of the row, in the order of columns.
type figures map[string][]float64

// claims has the check of each experiment's table in full length, by the name of the experiment.
var claims = map[string]func(*testing.T, figures){
	"table1": claimsOfTableOne, "arms": claimsOfArms, "bandit": claimsOfPrivateBandit, "hulls": claimsOfHulls,
	"contexts": claimsOfContexts, "sets": claimsOfSets, "regression": claimsOfRegression, "limits": claimsOfLimits,
	"window": claimsOfWindows, "gap": claimsOfGaps,
}

// TestKeptTables checks the claims on the tables in the folder results.
func TestKeptTables(t *testing.T) {
	for _, e := range All {
		table, err := os.ReadFile(filepath.Join("results", e.Name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		claims[e.Name](t, figuresOf(t, e, string(table)))
	}
}

// figuresOf reads the means in a table.
func figuresOf(t *testing.T, e Experiment, table string) figures {
	t.Helper()
	all := figures{}
	for _, row := range e.Rows {
		_, line, found := strings.Cut(table, "\n| "+row.Text+" | "+row.Gives+" |")
		if !found {
			t.Fatalf("%s.md has no row %q", e.Name, row.Text)
		}
		line, _, _ = strings.Cut(line, "\n")
		for i, cell := range strings.Split(strings.TrimSuffix(line, "|"), "|") {
			mean, _, _ := strings.Cut(strings.TrimSpace(cell), " ")
			x, err := strconv.ParseFloat(mean, 64)
			if err != nil && row.in(i) {
				t.Fatalf("%s.md, row %q: %v", e.Name, row.Text, err)
			}
			all[row.Name] = append(all[row.Name], x)
		}
		if len(all[row.Name]) != len(e.Columns) {
			t.Fatalf("%s.md, row %q: %d figures", e.Name, row.Text, len(all[row.Name]))
		}
	}
	return all
}

// claimsOfTableOne checks Table I. Its rows must be in the order of a floating-point prototype, for
// all rows in which the prototype's regrets differ by at least a tenth. PFTAL must lose 1.36 to 1.60 times as much as
// Γ. On stream A, blt must lose at most 80 at ε = 1 and at most 9 at ε = 10.
func claimsOfTableOne(t *testing.T, got figures) {
	t.Helper()
	prototype := []struct {
		name   string
		regret [4]float64
	}{
		{"FTAL", [4]float64{0.29, 0.29, 1.60, 1.60}},
		{"blt", [4]float64{60, 7.0, 200, 24}},
		{"once-blt", [4]float64{75, 8.6, 243, 29}},
		{"Gauss", [4]float64{154, 14.7, 659, 66}},
		{"Gauss, W ≥ T", [4]float64{182, 18.6, 672, 80}},
		{"Γ", [4]float64{453, 34, 1688, 145}},
		{"PFTAL", [4]float64{608, 53, 2343, 207}},
		{"noisy OGD Γ", [4]float64{1277, 36, 3092, 113}},
		{"noisy OGD", [4]float64{1598, 85, 4117, 256}},
		{"Gauss printed", [4]float64{5481, 574, 12742, 1736}},
		{"POCG", [4]float64{19745, 3140, 23532, 8445}},
	}
	for column := range tableOne.Columns {
		for _, less := range prototype {
			for _, more := range prototype {
				if more.regret[column] >= 1.1*less.regret[column] && !(got[more.name][column] > got[less.name][column]) {
					t.Errorf("%s: %s has %g, %s %g", tableOne.Columns[column].Name, less.name, got[less.name][column],
						more.name, got[more.name][column])
				}
			}
		}
	}
	for column, windowed := range got["Γ"] {
		if times := got["PFTAL"][column] / windowed; !(times > 1.35 && times < 1.61) {
			t.Errorf("%s: PFTAL loses %.2f times what Γ does", tableOne.Columns[column].Name, times)
		}
	}
	if blt := got["blt"]; !(blt[0] <= 80) || !(blt[1] <= 9) {
		t.Errorf("blt loses %g and %g on stream A", blt[0], blt[1])
	}
}

// claimsOfArms checks ten arms. At ε = 1, ucb must lose at most 2 700 of a million plays, and exp3 at most 7 500.
// Neither may lose less than the lower bound for every ε-private bandit.
func claimsOfArms(t *testing.T, got figures) {
	t.Helper()
	if !(got["ucb"][0] <= 2700) || !(got["exp3"][0] <= 7500) {
		t.Errorf("ucb loses %g, exp3 %g", got["ucb"][0], got["exp3"][0])
	}
	for i, epsilon := range armsBudgets {
		// Shariff and Sheffet, "Differentially Private Contextual Linear Bandits" (NeurIPS 2018), Corollary 15, for rewards 0
		// and 1: half of the corollary's bound for −1 and 1.
		least := 9 * math.Log(float64(tenArms.Steps)) / (400 * epsilon)
		if got["ucb"][i] < least || got["exp3"][i] < least {
			t.Errorf("ε = %g: ucb loses %g, exp3 %g, and any private bandit %g", epsilon, got["ucb"][i], got["exp3"][i], least)
		}
	}
}

// claimsOfPrivateBandit checks PrivateBandit. The noise of blt may increase the regret by at most a tenth, exact
// Gaussian noise may at most double it, and the printed noise must make it thirty times as large.
func claimsOfPrivateBandit(t *testing.T, got figures) {
	t.Helper()
	for i, none := range got["no noise"] {
		if !(got["blt"][i] <= 1.1*none) || !(got["Gauss"][i] <= 2*none) {
			t.Errorf("%s: blt %g, Gauss %g, none %g", privateBandit.Columns[i].Name, got["blt"][i], got["Gauss"][i], none)
		}
		for _, name := range []string{"Laplace printed", "Gauss printed"} {
			if !(got[name][i] > 30*none) {
				t.Errorf("%s: %s %g, none %g", privateBandit.Columns[i].Name, name, got[name][i], none)
			}
		}
	}
}

// order is the factor by which one row of a table must exceed another in a column.
type order struct {
	less, more string
	column     int
	by         float64
}

func inOrder(t *testing.T, got figures, orders []order) {
	t.Helper()
	for _, c := range orders {
		if less, more := got[c.less][c.column], got[c.more][c.column]; more < c.by*less {
			t.Errorf("column %d: %s has %g, %s %g: not %g times as much", c.column, c.less, less, c.more, more, c.by)
		}
	}
}

// claimsOfContexts checks the contextual bandit. Noise must increase regret, that of blt by less than
// a tree's. If arms change, only decaying sums follow them, with privacy and without. At ε = 10 privacy must cost
// little.
func claimsOfContexts(t *testing.T, got figures) {
	t.Helper()
	inOrder(t, got, []order{
		{"none", "blt", 0, 3},
		{"blt", "tree", 0, 1.5},
		{"blt", "proved", 0, 1.3},
		{"blt", "H", 0, 1.2},
		{"none, H", "none", 2, 1.5},
		{"H", "blt", 2, 1.4},
		{"H", "blt", 3, 1.4},
		{"none", "blt", 1, 1.2},
		{"tree, proved", "tree, printed", 0, 2},
		{"tree, proved", "tree, printed", 1, 2},
		{"tree, printed", "Wishart", 1, 1.1},
	})
	if got["blt"][1] > 1.5*got["none"][1] {
		t.Errorf("ε = 10: %g with blt, %g without noise", got["blt"][1], got["none"][1])
	}
}

// TestLeastLosses checks the lower bounds for private bandits against values computed by hand: for two contexts
// 10⁵·½/(1 + e) and 10⁵·½/(1 + e¹⁰), for ten arms with rewards 0 and 1 half of Corollary 15.
func TestLeastLosses(t *testing.T) {
	for column, want := range []float64{13447.07, 2.269891, 0.2590408, 25.90408} {
		if got := least(column, 100_000); math.Abs(got/want-1) > 1e-5 {
			t.Errorf("%s: %g, want %g", limits.Columns[column].Name, got, want)
		}
	}
}

// claimsOfLimits checks limits. A bandit that sees no context loses half of the right arm's reward: at
// small ε this is the proved bound, at large ε it is more. Under joint privacy the loss is smaller. Arms with pure ε
// lose far more than the bound.
func claimsOfLimits(t *testing.T, got figures) {
	t.Helper()
	inOrder(t, got, []order{
		{"least", "ordinary", 0, 1.8},
		{"least", "ordinary", 1, 1000},
		{"joint", "ordinary", 0, 20},
		{"joint", "ordinary", 1, 50},
		{"least", "ordinary", 2, 10},
		{"least", "ordinary", 3, 10},
		{"none", "ordinary", 3, 2},
	})
}

// TestContextsAreLearned checks, also in the short form, that a contextual bandit learns, at ε = 10 nearly as well as
// without noise. It must lose far less than random arms, which lose at least 0.2 a step.
func TestContextsAreLearned(t *testing.T) {
	for row, most := range map[int]float64{0: 0.06, 2: 0.1} {
		curve, err := playContexts(t.Context(), Cell{Row: row, Column: 1, Seed: 1, Steps: 3000})
		if err != nil {
			t.Fatal(err)
		}
		if lost := curve[len(curve)-1].Value / 3000; lost > most {
			t.Errorf("%s loses %.3f a step", contextsPlayers[row].Name, lost)
		}
	}
}

// claimsOfSets checks sets. In the order of the list, each rule misses more than the rule before it,
// and draws for each event miss most. At the rate that the paper prints, hardly anything is learned. If the
// distribution of events changes, decaying sums gain more than their noise costs.
func claimsOfSets(t *testing.T, got figures) {
	t.Helper()
	inOrder(t, got, []order{
		{"histogram", "argmax", 1, 5},
		{"argmax", "drawn 1000", 0, 1.5},
		{"drawn 1000", "FI-DP", 0, 3},
		{"FI-DP", "printed", 0, 1.2},
		{"histogram, H", "histogram", 2, 1.8},
		{"histogram, H", "histogram", 3, 1.3},
		{"halving", "drawn 1000", 0, 1.5},
		{"halving", "BanditDP", 0, 5},
		{"BanditDP", "BanditDP, printed", 0, 1.2},
		{"halving", "BanditDP", 1, 1.1},
		{"leaders, blt", "leaders", 0, 4},
		{"shares", "leaders", 0, 2},
		{"Streeter–Golovin", "FI-DP", 0, 3},
		{"BanditDP", "BanditDP, k²", 0, 1.2},
		{"BanditDP", "BanditDP, B.1", 0, 1.2},
	})
	if most := 0.05 * got["printed"][0]; math.Abs(got["histogram"][0]) > most || math.Abs(got["none"][0]) > most {
		t.Errorf("a histogram misses %g, and %g without noise", got["histogram"][0], got["none"][0])
	}
}

// TestSetsAreFound checks, also in the short form, that a histogram finds sets that are nearly as good as without
// noise. All rules must play in the same world, and the rules' file must be deleted afterwards.
func TestSetsAreFound(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for row, most := range map[int]float64{0: 0.06, 1: 0.1} {
		curve, err := playSets(t.Context(), Cell{Row: row, Column: 0, Seed: 1, Steps: 3000})
		if err != nil {
			t.Fatal(err)
		}
		if lost := curve[len(curve)-1].Value / 3000; lost > most || lost < -0.02 {
			t.Errorf("%s misses %.3f an event", setsPlayers[row].Name, lost)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// claimsOfRegression checks least squares. On a constant stream second moments are better than
// first-order sums, and at ε = 10 their noise costs hardly anything. On a changing stream, first-order sums and
// decaying sums are better than moments of the whole run.
func claimsOfRegression(t *testing.T, got figures) {
	t.Helper()
	inOrder(t, got, []order{
		{"none", "blt", 0, 5},
		{"blt", "first order", 0, 3},
		{"blt", "first order", 1, 3},
		{"blt", "H", 0, 2},
		{"innovation", "first order", 0, 3},
		{"H", "blt", 2, 2},
		{"first order", "blt", 2, 2},
		{"first order, H", "H", 3, 3},
	})
}

// TestRegressionIsLearned checks in the short form that predictions have far smaller errors than predictions of zero,
// whose mean squared error is 0.08.
func TestRegressionIsLearned(t *testing.T) {
	for row, most := range map[int]float64{0: 0.005, 1: 0.02, 3: 0.04, 4: 0.03} {
		curve, err := playRegression(t.Context(), Cell{Row: row, Column: 1, Seed: 1, Steps: 3000})
		if err != nil {
			t.Fatal(err)
		}
		if off := curve[len(curve)-1].Value / 3000; off > most {
			t.Errorf("%s is off by %.4f", regressionPlayers[row].Name, off)
		}
	}
}
