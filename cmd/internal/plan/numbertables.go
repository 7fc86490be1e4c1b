package plan

import (
	"fmt"
	"strconv"

	"oriel/cmd/internal/digits"
)

// tables prints the numbers as readable tables.
func (n *Numbers) tables(part func(title string, rows *grid)) {
	part(fmt.Sprintf("± at 95 %% of one number at one step, from the noise of privacy alone; %s in %s", n.Counted,
		digits.Counted(n.Cells, "cell")), n.viewRows())
	for _, r := range n.ratioNames() {
		unit := ""
		if r.Unit != "" {
			unit = ", " + r.Unit
		}
		part(fmt.Sprintf("± of the %s of %s over n %s of its cell%s: in the middle of the range … at its ends", r.Statistic, n.Value,
			n.Counted, unit), n.ratioRows(r.Statistic))
	}
	if len(n.Increments) > 0 {
		part("± of a sum of increments, the last so many steps'", n.incrementRows())
	}
}

// ratioNames returns the first ratio of each statistic that has ratios, in the order of the statistics.
func (n *Numbers) ratioNames() (first []NumberRatio) {
	seen := map[string]bool{}
	for _, r := range n.Ratios {
		if !seen[r.Statistic] {
			first = append(first, r)
		}
		seen[r.Statistic] = true
	}
	return first
}

// called returns a view's name, unique among the views of all mechanisms.
func (v NumberView) called() string {
	if v.Configured {
		return "* " + v.View
	}
	if v.Window > 0 {
		return fmt.Sprintf("  %s, %s with W = %d", v.View, v.Mechanism, v.Window)
	}
	return fmt.Sprintf("  %s, %s", v.View, v.Mechanism)
}

func plusMinus(x digits.Number) string {
	if !x.Known() {
		return "–"
	}
	return "± " + digits.Four(x)
}

func (n *Numbers) viewRows() *grid {
	g := &grid{}
	first, second := []string{"", "count", "at the"}, []string{"", "", "worst step"}
	sums, shown, optimum := false, false, false
	for _, v := range n.Views {
		sums, shown, optimum = sums || v.Sum.Half.Known(), shown || v.ShownFrom.Known(), optimum || v.OverOptimum.Known()
	}
	if sums {
		first, second = append(first, "sum of", "at the"), append(second, n.Value, "worst step")
	}
	first, second = append(first, n.Counted, "for each"), append(second, "in view", "cell")
	if shown {
		first, second = append(first, "ratios"), append(second, "shown from")
	}
	if optimum {
		first, second = append(first, "variance over"), append(second, "the optimum")
	}
	g.add(first...)
	g.add(second...)
	for _, v := range n.Views {
		row := []string{v.called(), plusMinus(v.Count.Half), plusMinus(v.Count.Worst)}
		if sums {
			row = append(row, plusMinus(v.Sum.Half), plusMinus(v.Sum.Worst))
		}
		row = append(row, digits.Four(v.Events), digits.Four(v.CellEvents))
		if shown {
			row = append(row, digits.Upper(v.ShownFrom))
		}
		if optimum {
			row = append(row, digits.Upper(v.OverOptimum))
		}
		g.add(row...)
	}
	return g
}

func (n *Numbers) ratioRows(statistic string) *grid {
	g := &grid{}
	head := []string{""}
	rows := map[string][]string{}
	var views []string
	for _, r := range n.Ratios {
		if r.Statistic != statistic {
			continue
		}
		if rows[r.View] == nil {
			views = append(views, r.View)
			rows[r.View] = []string{"  " + r.View}
		}
		if len(views) == 1 {
			head = append(head, "n = "+strconv.FormatUint(r.Events, 10))
		}
		text := "–"
		if r.Middle.Known() {
			text = plusMinus(r.Middle) + " … " + digits.Four(r.Ends)
		}
		rows[r.View] = append(rows[r.View], text)
	}
	g.add(head...)
	for _, view := range views {
		g.add(rows[view]...)
	}
	return g
}

func (n *Numbers) incrementRows() *grid {
	g := &grid{}
	sums := n.Increments[0].Sum.Half.Known()
	head := []string{"  steps", "count"}
	if sums {
		head = append(head, "sum of "+n.Value)
	}
	g.add(head...)
	for _, w := range n.Increments {
		row := []string{"  " + strconv.FormatUint(w.Steps, 10), plusMinus(w.Count.Half)}
		if sums {
			row = append(row, plusMinus(w.Sum.Half))
		}
		g.add(row...)
	}
	return g
}

// notes returns explanations for which the tables of numbers have no room.
func (n *Numbers) notes() []string {
	lines := []string{
		"±: long after the start, and at the end of a stream that ends. After the rare steps where a memory's noise starts again",
		"it is larger for a while. The noise of one number stays much the same for a memory of steps; the noise of two cells is",
		"independent, and their difference has √2 times ± where both have the same.",
	}
	if len(n.Ratios) > 0 {
		lines = append(lines,
			"Ratios: – where a view never has n, and where n is below the smallest n at which ratios are shown: use the interval of the ratio alone.")
	}
	return lines
}
