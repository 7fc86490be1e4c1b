package eval

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"oriel/cmd/internal/digits"
)

// listed is the largest number of cells that are printed.
const listed = 20

// Print prints the report as readable text.
func (r *NumbersReport) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events in %s, %s. Private numbers, and the truth computed beside them from the same events,\n"+
		"at %d places along each stream:\n\n",
		r.Events, digits.Counted(r.Streams, "stream"), digits.Counted(r.Seeds, "seed"), checkpoints)
	r.printKinds(&b)
	if r.Null > 0 {
		fmt.Fprintf(&b, "null events: %d%s\n", r.Null, reasons(r.Reasons, r.first))
	}
	r.printLast(&b)
	b.WriteString("\nIntervals are of the noise alone, each for its cell and time; the noise of neighbouring steps is alike. Values are clamped\n" +
		"to their public range, in the truth too. The truth is computed without privacy. – stands for a number that is little more\n" +
		"than noise: decisions do not show it, errors leave it out, and its interval alone counts.\n")
	fmt.Fprintf(&b, "\n%s\n", Warning)
	_, err := io.WriteString(out, b.String())
	return err
}

// printKinds prints a line for each setting, statistic and memory.
func (r *NumbersReport) printKinds(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tε\tW\tstatistic\tmemory\terror, rms\t±, median\tin the interval\treleases\tcompared\tshown\t")
	for _, row := range r.Rows {
		for _, k := range row.Kinds {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s %%\t%d\t%d\t%d\t\n", row.Name, digits.Upper(row.Epsilon),
				steps(row.Window), k.Statistic, k.Memory, shortOf(k.Statistic, k.RMS), shortOf(k.Statistic, k.Half),
				number(100*k.Covered, 1), k.Releases, k.Compared, k.Shown)
		}
	}
	_ = w.Flush()
}

// printLast lists cells at the end of the first stream, in descending order of the true value of the first statistic.
// It shows the numbers of the last memory.
func (r *NumbersReport) printLast(out io.Writer) {
	row := &r.Rows[0]
	memory := row.Last[len(row.Last)-1].Memory
	var order, statistics []string
	byCell := map[string][]ShownNumber{}
	for _, n := range row.Last {
		if n.Memory != memory {
			continue
		}
		if len(byCell[n.Cell]) == 0 {
			order = append(order, n.Cell)
		}
		if !slices.Contains(statistics, n.Statistic) {
			statistics = append(statistics, n.Statistic)
		}
		byCell[n.Cell] = append(byCell[n.Cell], n)
	}
	whole := len(order)
	slices.SortStableFunc(order, func(a, b string) int {
		return cmp.Compare(byCell[b][0].Truth, byCell[a][0].Truth) // NaN sorts last
	})
	order = order[:min(listed, whole)]
	fmt.Fprintf(out, "\nAfter step %d of the first stream, seed 1, %s, memory %s",
		row.Steps[len(row.Steps)-1], row.Name, memory)
	if whole > listed {
		fmt.Fprintf(out, "; the first %d of %d cells by %s", listed, whole, statistics[0])
	}
	fmt.Fprintln(out, ":")
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\t", "cell")
	for _, s := range statistics {
		fmt.Fprintf(w, "%s\tfrom\tto\ttruth\t", s)
	}
	fmt.Fprintln(w)
	for _, cell := range order {
		fmt.Fprintf(w, "%s\t", cell)
		for _, s := range statistics {
			fmt.Fprintf(w, "%s", numberCells(byCell[cell], s))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
}

// numberCells returns the four table columns of a statistic in a row. They are empty for the control's differences.
func numberCells(numbers []ShownNumber, statistic string) string {
	i := slices.IndexFunc(numbers, func(n ShownNumber) bool { return n.Statistic == statistic })
	if i < 0 {
		return "\t\t\t\t"
	}
	n := numbers[i]
	value := shortOf(statistic, n.Value)
	if !n.Shown {
		value = "–"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t", value,
		shortOf(statistic, n.Low), shortOf(statistic, n.High), shortOf(statistic, n.Truth))
}

// shortOf formats a number of a statistic with digits.Three; a share, which is below 1, has four decimals.
func shortOf(statistic string, x Number) string {
	if strings.HasPrefix(statistic, "share") && x.Known() {
		return digits.Unsigned(strconv.FormatFloat(float64(x), 'f', 4, 64))
	}
	return digits.Three(x)
}
