package numbers

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/eval"
)

// listed is the largest number of cells that are printed.
const listed = 20

// Print prints the report as readable text.
func (r *Report) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events in %s, %s. Private numbers, and the truth computed beside them from the same events,\n"+
		"at %d places along each stream:\n\n",
		r.Events, digits.Counted(r.Streams, "stream"), digits.Counted(r.Seeds, "seed"), checkpoints)
	r.printKinds(&b)
	if r.Null > 0 {
		fmt.Fprintf(&b, "null events: %d%s\n", r.Null, r.nulls)
	}
	r.printLast(&b)
	b.WriteString("\nIntervals are of the noise alone, each for its cell and time; the noise of neighbouring steps is alike. Values are clamped\n" +
		"to their public range, in the truth too. The truth is computed without privacy. – stands for a number that is little more\n" +
		"than noise: decisions do not show it, errors leave it out, and its interval alone counts.\n")
	fmt.Fprintf(&b, "\n%s\n", eval.Warning)
	_, err := io.WriteString(out, b.String())
	return err
}

// printKinds prints a line for each setting, statistic and memory.
func (r *Report) printKinds(out io.Writer) {
	var table digits.Table
	table.Add("", "ε", "W", "statistic", "memory", "error, rms", "±, median", "in the interval", "releases",
		"compared", "shown")
	for _, row := range r.Rows {
		for _, k := range row.Kinds {
			table.Add(row.Name, digits.Upper(row.Epsilon), eval.Steps(row.Window), k.Statistic, k.Memory,
				shortOf(k.Statistic, k.RMS), shortOf(k.Statistic, k.Half), eval.Decimals(100*k.Covered, 1)+" %",
				strconv.Itoa(k.Releases), strconv.Itoa(k.Compared), strconv.Itoa(k.Shown))
		}
	}
	_, _ = io.WriteString(out, table.Right())
}

// printLast lists cells at the end of the first stream, in descending order of the true value of the first statistic.
// It shows the numbers of the last memory.
func (r *Report) printLast(out io.Writer) {
	row := &r.Rows[0]
	memory := row.Last[len(row.Last)-1].Memory
	var order, statistics []string
	byCell := map[string][]Shown{}
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
	heads := []string{"cell"}
	for _, s := range statistics {
		heads = append(heads, s, "from", "to", "truth")
	}
	var table digits.Table
	table.Add(heads...)
	for _, cell := range order {
		cells := []string{cell}
		for _, s := range statistics {
			cells = append(cells, numberCells(byCell[cell], s)...)
		}
		table.Add(cells...)
	}
	_, _ = io.WriteString(out, table.Right())
}

// numberCells returns the four table columns of a statistic in a row. They are empty for the control's differences.
func numberCells(numbers []Shown, statistic string) []string {
	i := slices.IndexFunc(numbers, func(n Shown) bool { return n.Statistic == statistic })
	if i < 0 {
		return make([]string, 4)
	}
	n := numbers[i]
	value := shortOf(statistic, n.Value)
	if !n.Shown {
		value = "–"
	}
	return []string{value, shortOf(statistic, n.Low), shortOf(statistic, n.High), shortOf(statistic, n.Truth)}
}

// shortOf formats a number of a statistic with digits.Three; a share, which is below 1, has four decimals.
func shortOf(statistic string, x digits.Number) string {
	if strings.HasPrefix(statistic, "share") && x.Known() {
		return digits.Unsigned(strconv.FormatFloat(float64(x), 'f', 4, 64))
	}
	return digits.Three(x)
}
