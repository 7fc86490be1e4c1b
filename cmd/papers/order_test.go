package papers

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// end is a cell of an experiment, by the experiment's name. Its value is the mean over the seeds up to the cell's seed.
type end struct {
	experiment string
	cell       Cell
}

// ends caches the results of meanOf, because tests ask for some cells twice.
var ends = map[end]float64{}

// ended returns the mean of two seeds at the end of the row with this name, after this many steps. In the short form it
// returns the result of the first seed, for which all claims of the tests hold, too.
func ended(t *testing.T, e Experiment, name string, column int, steps uint64) (mean float64) {
	t.Helper()
	return meanOf(t, e, name, column, steps, tiertest.Runs(1, 2))
}

// meanOf returns the mean of this many seeds at the end of the row.
func meanOf(t *testing.T, e Experiment, name string, column int, steps uint64, seeds int) (mean float64) {
	t.Helper()
	row := slices.IndexFunc(e.Rows, func(r Row) bool { return r.Name == name })
	asked := end{e.Name, Cell{Row: row, Column: column, Seed: seeds, Steps: steps}}
	if mean, played := ends[asked]; played {
		return mean
	}
	for seed := 1; seed <= seeds; seed++ {
		curve, err := e.Play(t.Context(), Cell{Row: row, Column: column, Seed: seed, Steps: steps})
		if err != nil {
			t.Fatal(err)
		}
		mean += curve[len(curve)-1].Value / float64(seeds)
	}
	ends[asked] = mean
	return mean
}

// TestOrderOfTableOne checks the order of those rows of Table I that differ by at least a tenth, on the first 5 000 or
// 20 000 steps of both streams, at ε = 1 and 10. The long form has all rows at 100 000 steps (results/table1.md).
func TestOrderOfTableOne(t *testing.T) {
	steps := tiertest.Runs[uint64](5_000, 20_000)
	for column := range tableOne.Columns {
		order := []string{"FTAL", "blt, λ₀", "blt", "Gauss", "Γ", "PFTAL", "POCG"}
		got := make([]float64, len(order))
		for i, name := range order {
			got[i] = ended(t, tableOne, name, column, steps)
		}
		t.Logf("%s: %.3g", tableOne.Columns[column].Name, got)
		for i := range order[1:] {
			if least := map[bool]float64{true: 0.9, false: 1.1}[order[i] == "Γ"]; got[i+1] < least*got[i] {
				t.Errorf("%s: %s has %.4g, %s %.4g", tableOne.Columns[column].Name, order[i], got[i], order[i+1], got[i+1])
			}
		}
	}
}

// TestRegretOfFTALIsWithinItsBound checks that, without privacy, Algorithm 1 is within the bound of follow-the-leader
// on strongly convex losses at every mark. The bound is GD + (G²/µ)·ln T with G = L + µD, by the argument of Hazan,
// Agarwal and Kale ("Logarithmic Regret Algorithms for Online Convex Optimization", Machine Learning 69, 2007).
func TestRegretOfFTALIsWithinItsBound(t *testing.T) {
	for i, task := range tasks {
		set, _, err := task.Open(1)
		if err != nil {
			t.Fatal(err)
		}
		curve, err := playTableOne(t.Context(), Cell{Row: 0, Column: i * len(budgets), Seed: 3, Steps: 5000})
		if err != nil {
			t.Fatal(err)
		}
		g := task.Clip + task.Convexity*set.Diameter()
		for _, p := range curve {
			if bound := g*set.Diameter() + g*g/task.Convexity*math.Log(float64(p.Step)); p.Value > bound+0.1 {
				t.Errorf("%s, step %d: regret %g, bound %g", task.Name, p.Step, p.Value, bound)
			}
		}
	}
}

// TestEveryCellIsPlayed plays all cells of every experiment for a few steps, and checks the table and the plot. Sets
// are played longer, because a row publishes every 1000 steps.
func TestEveryCellIsPlayed(t *testing.T) {
	for _, e := range All {
		few := uint64(200)
		if e.Name == "sets" {
			few = 1000
		}
		r := reportOf(t, e, tiertest.Runs(few, e.Short), tiertest.Runs(1, 2))
		if n := strings.Count(r.markdown(), "\n| "); n != 1+len(e.Rows) || strings.Contains(r.markdown(), "NaN") {
			t.Errorf("%s: a table with %d lines:\n%s", e.Name, n, r.markdown())
		}
		file := filepath.Join(t.TempDir(), e.Name+".svg")
		if err := r.slide().save(file); err != nil {
			t.Fatal(err)
		}
		plot, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer plot.Close()
		for in := xml.NewDecoder(plot); ; {
			if _, err := in.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
		}
	}
}

// TestExperimentsAreWellFormed checks that names in files are unique, that no two cells have the same noise, and that
// the marks end with the last step.
func TestExperimentsAreWellFormed(t *testing.T) {
	for _, e := range All {
		var names []string
		for _, r := range e.Rows {
			names = append(names, r.Name)
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != len(e.Rows) || e.Seeds < 1 || e.Short > e.Steps || e.Play == nil {
			t.Errorf("%s: %+v", e.Name, e)
		}
		if claims[e.Name] == nil {
			t.Errorf("%s: nothing is claimed", e.Name)
		}
	}
	keys := map[[32]byte]Cell{}
	for _, e := range All {
		for _, c := range e.cells(e.Short, e.Seeds) {
			if other, ok := keys[keyOf(e.Name, c)]; ok {
				t.Fatalf("%s: %+v and %+v have the same noise", e.Name, c, other)
			}
			keys[keyOf(e.Name, c)] = c
		}
	}
	if marks := Marks(20); !slices.Equal(marks, []uint64{1, 2, 5, 10, 20}) {
		t.Errorf("marks %v", marks)
	}
}
