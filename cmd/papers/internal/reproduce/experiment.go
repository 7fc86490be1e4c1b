package reproduce

import "context"

// All has one row for each experiment.
var All = []Experiment{
	tableOne,
	tenArms,
	privateBandit,
	hulls,
	contexts,
	sets,
	regression,
	limits,
	windows,
	gaps,
}

// Experiment measures a table of a paper, or a claim of one.
type Experiment struct {
	Name    string   // what `papers reproduce` and its files call it
	Title   string   // of table and plot
	Text    string   // one line for people
	Measure string   // what a curve shows, such as regret
	Rows    []Row    // methods
	Columns []Column // where they are measured
	Steps   uint64   // of a cell's run
	Short   uint64   // the same in the short form
	Seeds   int      // of each row and column, 1 or more
	Panels  [2]int   // the columns whose curves the plot shows
	Sweeps  [2]Sweep // that the plot shows in place of them; none: no columns
	Notes   []string // under the table

	// Play runs a cell and returns its curve: a point at every one of Marks(steps), in their order. It is a pure function
	// of the cell.
	Play func(ctx context.Context, c Cell) ([]Point, error)
}

// Row is a method.
type Row struct {
	Name  string // short: in files, and beside its line in the plot
	Text  string // in the table
	Gives string // the guarantee that it has in every column, in words
	Skip  []int  // columns that it has no meaning in
	Drawn bool   // in the plot
}

// Column is a stream and budget on which methods are measured.
type Column struct {
	Name string // short: in files
	Text string // in the table
}

// Sweep is a series of columns that differ in one number only.
type Sweep struct {
	Name    string
	Columns []int
	At      []float64 // the number in each of them
}

// Cell is one run.
type Cell struct {
	Row, Column int
	Seed        int // from 1 on
	Steps       uint64
}

// Point is a point of a curve.
type Point struct {
	Step  uint64
	Value float64
}

// cells returns the runs of all seeds, seed by seed, so that a run that is ended early has all rows.
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

// in reports whether the row has a meaning in a column.
func (r Row) in(column int) bool {
	for _, skipped := range r.Skip {
		if skipped == column {
			return false
		}
	}
	return true
}

// Marks are the steps at which curves have points: 1, 2 and 5 times powers of ten, and the last one.
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

// Find returns the experiment of a name, or false.
func Find(name string) (Experiment, bool) {
	for _, e := range All {
		if e.Name == name {
			return e, true
		}
	}
	return Experiment{}, false
}

// Names lists the experiments.
func Names() []string {
	names := make([]string, len(All))
	for i, e := range All {
		names[i] = e.Name
	}
	return names
}
