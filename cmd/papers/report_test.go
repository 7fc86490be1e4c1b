package papers

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/plotter"

	"oriel/cmd/internal/digits"
)

// report prints the table and draws the plot of an experiment.
type report struct {
	Experiment
	steps  uint64
	seeds  int
	curves map[Cell][]Point
}

// reportOf plays all cells of an experiment.
func reportOf(t *testing.T, e Experiment, steps uint64, seeds int) report {
	t.Helper()
	r := report{Experiment: e, steps: steps, seeds: seeds, curves: map[Cell][]Point{}}
	for _, c := range e.cells(steps, seeds) {
		curve, err := e.Play(t.Context(), c)
		if err != nil {
			t.Fatalf("%s, %s, seed %d: %v", e.Rows[c.Row].Name, e.Columns[c.Column].Name, c.Seed, err)
		}
		r.curves[c] = curve
	}
	return r
}

// at returns the values of all seeds at a mark.
func (r report) at(row, column, mark int) []float64 {
	values := make([]float64, r.seeds)
	for i := range values {
		values[i] = r.curves[Cell{Row: row, Column: column, Seed: i + 1, Steps: r.steps}][mark].Value
	}
	return values
}

// markdown returns the table of the last points of each curve.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", r.Title, r.Text)
	spread := ""
	if r.seeds > 1 {
		spread = " ± standard deviation"
	}
	fmt.Fprintf(&b, "The %s after %d steps, mean%s of %d seeds. Made by `TestTables/%s`.\n\n", r.Measure, r.steps, spread,
		r.seeds, r.Name)
	b.WriteString("| | protects |")
	for _, c := range r.Columns {
		fmt.Fprintf(&b, " %s |", c.Text)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(r.Columns)) + "\n")
	last := len(Marks(r.steps)) - 1
	for row, line := range r.Rows {
		fmt.Fprintf(&b, "| %s | %s |", line.Text, line.Gives)
		for column := range r.Columns {
			if !line.in(column) {
				b.WriteString(" – |")
				continue
			}
			fmt.Fprintf(&b, " %s |", summary(r.at(row, column, last)))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", note)
	}
	fmt.Fprintf(&b, "\n![%s](%s.svg)\n", r.Measure, r.Name)
	return b.String()
}

// summary formats the mean and the spread over the seeds.
func summary(values []float64) string {
	mean, deviation := stat.MeanStdDev(values, nil)
	if len(values) < 2 {
		return digits.Three(mean)
	}
	return digits.Three(mean) + " ± " + digits.Three(deviation)
}

// slide returns the plot: means along the run in the two columns of Panels, or means at the end of the run along two
// sweeps.
func (r report) slide() slide {
	s := slide{r.Title, fmt.Sprintf("mean of %d seeds · %d steps", r.seeds, r.steps), r.chart(0), r.chart(1)}
	for i := range s.right.lines { // the lines of both charts have the same names
		s.right.lines[i].name = ""
	}
	return s
}

func (r report) chart(panel int) chart {
	column, sweep := r.Panels[panel], r.Sweeps[panel]
	c := chart{x: "steps: " + r.Columns[column].Text, y: r.Measure}
	if sweep.Columns != nil {
		c.x, c.full = sweep.Name, true
	}
	for row, method := range r.Rows {
		if !method.Drawn {
			continue
		}
		points := r.curve(row, column)
		if sweep.Columns != nil {
			points = r.ends(row, sweep)
		}
		c.lines = append(c.lines, line{method.Name, points})
	}
	return c
}

func (r report) curve(row, column int) (curve plotter.XYs) {
	if !r.Rows[row].in(column) {
		return nil
	}
	for mark, step := range Marks(r.steps) {
		curve = append(curve, plotter.XY{X: float64(step), Y: stat.Mean(r.at(row, column, mark), nil)})
	}
	return curve
}

// ends returns the means of a row at the end of the run, along a sweep.
func (r report) ends(row int, s Sweep) (points plotter.XYs) {
	last := len(Marks(r.steps)) - 1
	for i, column := range s.Columns {
		points = append(points, plotter.XY{X: s.At[i], Y: stat.Mean(r.at(row, column, last), nil)})
	}
	return points
}
