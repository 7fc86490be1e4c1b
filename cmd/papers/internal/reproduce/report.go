package reproduce

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/figure"
)

// report prints the table and draws the plot of an experiment whose cells are complete.
type report struct {
	Experiment
	steps   uint64
	seeds   int
	results results
}

// at returns the values of all seeds at a mark.
func (r report) at(row, column, mark int) []float64 {
	values := make([]float64, r.seeds)
	for i := range values {
		values[i] = r.results[Cell{Row: row, Column: column, Seed: i + 1, Steps: r.steps}][mark].Value
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
	fmt.Fprintf(&b, "The %s after %d steps, mean%s of %d seeds. Made by `papers reproduce %s`.\n\n", r.Measure, r.steps, spread,
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

// slide draws the plot: means along the run in the two columns of Panels, or means at the end of the run along two
// sweeps.
func (r report) slide() *figure.Slide {
	left, right := r.chart(0), r.chart(1)
	for i := range left.Lines {
		left.Lines[i].End = left.Lines[i].Name
	}
	return &figure.Slide{
		Title: r.Title, Subtitle: fmt.Sprintf("mean of %d seeds · %d steps", r.seeds, r.steps),
		Left: left, Right: right, Share: 0.62,
	}
}

func (r report) chart(panel int) *figure.Chart {
	column, sweep := r.Panels[panel], r.Sweeps[panel]
	c := &figure.Chart{
		X: figure.Axis{Name: "steps: " + r.Columns[column].Text, Log: true}, Y: figure.Axis{Name: r.Measure, Log: true},
	}
	if sweep.Columns != nil {
		c.X = figure.Axis{Name: sweep.Name, Log: true, Full: true}
	}
	for row, method := range r.Rows {
		if !method.Drawn {
			continue
		}
		points := r.curve(row, column)
		if sweep.Columns != nil {
			points = r.ends(row, sweep)
		}
		c.Lines = append(c.Lines, figure.Line{Name: method.Name, Look: figure.Look(len(c.Lines)), Width: 1.8, Points: points})
	}
	return c
}

func (r report) curve(row, column int) []figure.Point {
	if !r.Rows[row].in(column) {
		return nil
	}
	var curve []figure.Point
	for mark, step := range Marks(r.steps) {
		curve = append(curve, figure.Point{X: float64(step), Y: stat.Mean(r.at(row, column, mark), nil)})
	}
	return curve
}

// ends returns the means of a row at the end of the run, along a sweep.
func (r report) ends(row int, s Sweep) (points []figure.Point) {
	last := len(Marks(r.steps)) - 1
	for i, column := range s.Columns {
		points = append(points, figure.Point{X: s.At[i], Y: stat.Mean(r.at(row, column, last), nil)})
	}
	return points
}
