package reproduce

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
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

// counted returns an experiment that records its runs and fails at one of them.
func counted(runs *[]Cell, failAt int) Experiment {
	return Experiment{
		Name: "counted", Title: "T", Text: "an experiment of a test", Measure: "regret", Steps: 30, Short: 20, Seeds: 2,
		Rows:    []Row{{Name: "a, b", Text: "A", Gives: "none", Drawn: true}, {Name: "c", Text: "C", Skip: []int{1}}},
		Columns: []Column{{Name: "x", Text: "X"}, {Name: "y", Text: "Y"}},
		Panels:  [2]int{0, 1},
		Play: func(_ context.Context, c Cell) ([]Point, error) {
			if *runs = append(*runs, c); len(*runs) == failAt {
				return nil, errors.New("stopped")
			}
			var curve []Point
			for _, step := range Marks(c.Steps) {
				curve = append(curve, Point{step, float64(step)*1.23456789 + float64(c.Seed+10*c.Row+100*c.Column)})
			}
			return curve, nil
		},
	}
}

// TestInterruptedRunsContinue checks that an interrupted run continues at its next cell, also after an incomplete last
// line, and that its files equal those of an uninterrupted run. Cells of another version or length must be refused.
func TestInterruptedRunsContinue(t *testing.T) {
	files := func(folder string) (all string) {
		for _, kind := range []string{"csv", "md", "svg"} {
			b, err := os.ReadFile(filepath.Join(folder, "counted."+kind))
			if err != nil {
				t.Fatal(err)
			}
			all += string(b)
		}
		return all
	}
	var whole, first, second []Cell
	straight, broken := t.TempDir(), t.TempDir()
	if _, err := Run(t.Context(), counted(&whole, 0), Options{Folder: straight, Version: "1"}); err != nil {
		t.Fatal(err)
	}
	if len(whole) != 6 {
		t.Fatalf("%d runs, want 6", len(whole))
	}
	o := Options{Folder: broken, Version: "1"}
	if _, err := Run(t.Context(), counted(&first, 4), o); err == nil {
		t.Fatal("a failure is no failure")
	}
	file := filepath.Join(broken, "counted.csv")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	torn := fmt.Appendf(b, "1,c,x,2,1,3.4\n1,c,x,2,2,5\n1,c,x,2")
	if err := os.WriteFile(file, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	var done []int
	o.Progress = func(n, all int) { done = append(done, n, all) }
	if _, err := Run(t.Context(), counted(&second, 0), o); err != nil {
		t.Fatal(err)
	}
	if len(second) != 3 || slices.Contains(second, whole[0]) {
		t.Errorf("runs %v once more, of %v", second, whole)
	}
	if files(broken) != files(straight) {
		t.Error("files of a run that was ended differ")
	}
	if want := []int{0, 6, 1, 6, 2, 6, 3, 6, 4, 6, 5, 6}; !slices.Equal(done, want) {
		t.Errorf("progress %v, want %v", done, want)
	}
	for _, other := range []Options{{Folder: broken, Version: "2"}, {Folder: broken, Version: "1", Short: true}} {
		if _, err := Run(t.Context(), counted(&second, 0), other); !errors.Is(err, errOther) {
			t.Errorf("%+v: %v", other, err)
		}
	}
}

// TestFilesParse checks that every experiment writes files that parse. The short form has only the first two rows of
// each column.
func TestFilesParse(t *testing.T) {
	steps, seeds := tiertest.Runs[uint64](20, 200), tiertest.Runs(1, 2)
	for _, e := range All {
		folder := t.TempDir()
		e.Rows, e.Short, e.Seeds = e.Rows[:2], steps, seeds
		table, err := Run(t.Context(), e, Options{Folder: folder, Short: true, Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(table, "\n| "); n != 1+len(e.Rows) || strings.Contains(table, "NaN") {
			t.Errorf("%s: a table with %d lines:\n%s", e.Name, n, table)
		}
		cells, err := os.ReadFile(filepath.Join(folder, e.Name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(bytes.NewReader(cells)).ReadAll()
		if want := 1 + seeds*2*len(e.Columns)*len(Marks(steps)); err != nil || len(lines) != want {
			t.Errorf("%s: %d lines of cells, want %d: %v", e.Name, len(lines), want, err)
		}
		plot, err := os.Open(filepath.Join(folder, e.Name+".svg"))
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
		if found, ok := Find(e.Name); !ok || found.Title != e.Title || !slices.Contains(Names(), e.Name) {
			t.Errorf("%s is not found", e.Name)
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
