package papers

import (
	"context"
	"slices"
)

// All lists the experiments.
var All = []Experiment{tableOne, tenArms, privateBandit, hulls, contexts, sets, regression, limits, windows, gaps}

// Experiment measures a table of a paper, or one of its claims.
type Experiment struct {
	Name    string   // name of the subtest of TestTables, and of files
	Title   string   // title of the table and the plot
	Text    string   // one-line description
	Measure string   // quantity of the curves, for example regret
	Rows    []Row    // a row for each method
	Columns []Column // a column for each stream and budget
	Steps   uint64   // number of steps of a cell's run
	Short   uint64   // number of steps of a cell's run in the short form
	Seeds   int      // number of seeds of each row and column, at least 1
	Panels  [2]int   // columns whose curves the plot shows
	Sweeps  [2]Sweep // sweeps that the plot shows instead of Panels; none if they have no columns
	Notes   []string // notes under the table

	// Play runs a cell and returns its curve: a point for each of Marks(steps), in their order. It must be a pure function
	// of the cell.
	Play func(ctx context.Context, c Cell) ([]Point, error)
}

// Row is a method.
type Row struct {
	Name  string // short name, in files and beside its line in the plot
	Text  string // text in the table
	Gives string // guarantee that the method gives in every column, in words
	Skip  []int  // columns in which the method has no meaning
	Drawn bool   // the plot shows the method
}

// plotted returns a row that the plot shows.
func plotted(name, text, gives string) Row {
	return Row{Name: name, Text: text, Gives: gives, Drawn: true}
}

// tabled returns a row that only the table shows.
func tabled(name, text, gives string) Row { return Row{Name: name, Text: text, Gives: gives} }

// Column is a stream and a budget on which methods are measured.
type Column struct {
	Name string // short name, in files
	Text string // text in the table
}

// Sweep is a series of columns that differ in one number only.
type Sweep struct {
	Name    string
	Columns []int
	At      []float64 // the number in each column
}

// Cell is one run.
type Cell struct {
	Row, Column int
	Seed        int // seed, from 1
	Steps       uint64
}

// Point is a point of a curve.
type Point struct {
	Step  uint64
	Value float64
}

// cells returns the runs of an experiment.
func (e Experiment) cells(steps uint64, seeds int) []Cell {
	var all []Cell
	for seed := 1; seed <= seeds; seed++ {
		for column := range e.Columns {
			for row := range e.Rows {
				if e.Rows[row].in(column) {
					all = append(all, Cell{Row: row, Column: column, Seed: seed, Steps: steps})
				}
			}
		}
	}
	return all
}

// in reports whether the row's method has a meaning in a column.
func (r Row) in(column int) bool { return !slices.Contains(r.Skip, column) }

func (r Row) row() Row { return r }

// Marks returns the steps at which curves have points: 1, 2 and 5 times powers of ten, and the last step.
func Marks(steps uint64) []uint64 {
	var marks []uint64
	for decade := uint64(1); decade < steps; decade *= 10 {
		for _, k := range []uint64{1, 2, 5} {
			if mark := k * decade; mark < steps {
				marks = append(marks, mark)
			}
		}
	}
	return append(marks, steps)
}
