package reproduce

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"oriel/cmd/internal/plan"
)

// report makes table and plot of an experiment whose cells are all there.
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

// markdown is the table: what the last point of each curve says.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", r.Title, r.Text)
	spread := ""
	if r.seeds > 1 {
		spread = " ± standard deviation"
	}
	fmt.Fprintf(&b, "The %s after %d steps, mean%s of %d seeds. Made by `oriel reproduce %s`.\n\n", r.Measure, r.steps, spread,
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

// summary is a mean, and how far seeds are from it.
func summary(values []float64) string {
	mean, deviation := stat.MeanStdDev(values, nil)
	if len(values) < 2 {
		return figure(mean)
	}
	return figure(mean) + " ± " + figure(deviation)
}

// figure is a number with three digits that count.
func figure(x float64) string {
	switch {
	case x >= 99.95 || x <= -99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995 || x <= -9.995:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// figure is the plot: means along the run in the two columns that the experiment shows.
func (r report) figure() *plan.Curves {
	axes := func(k int) plan.Axes {
		return plan.Axes{X: "steps: " + r.Columns[r.Panels[k]].Text, Y: r.Measure, Log: true}
	}
	c := &plan.Curves{
		Title: r.Title, Subtitle: fmt.Sprintf("mean of %d seeds · %d steps", r.seeds, r.steps), Left: axes(0), Right: axes(1),
	}
	for row, line := range r.Rows {
		if line.Drawn {
			c.Lines = append(c.Lines, plan.CurveLine{
				Name: line.Name, Left: r.curve(row, r.Panels[0]), Right: r.curve(row, r.Panels[1]),
			})
		}
	}
	return c
}

func (r report) curve(row, column int) [][2]float64 {
	if !r.Rows[row].in(column) {
		return nil
	}
	var curve [][2]float64
	for mark, step := range Marks(r.steps) {
		curve = append(curve, [2]float64{float64(step), stat.Mean(r.at(row, column, mark), nil)})
	}
	return curve
}
