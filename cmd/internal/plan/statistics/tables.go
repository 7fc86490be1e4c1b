package statistics

import (
	"fmt"
	"slices"
	"strconv"

	"oriel/cmd/internal/digits"
)

// Tables prints the numbers as readable tables.
func (n *Numbers) Tables(part func(title string, rows *digits.Table)) {
	of := "at one step"
	if n.several() {
		of = "of one step, and of all steps of a time"
	}
	part(fmt.Sprintf("± at 95 %% of one number %s, from the noise of privacy alone; %s in %s", of, n.Counted,
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

// several reports whether there are figures of several steps together.
func (n *Numbers) several() bool {
	return slices.ContainsFunc(n.Views, func(v NumberView) bool { return v.Steps > 0 })
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

func (n *Numbers) viewRows() *digits.Table {
	known := func(of func(NumberView) digits.Number) bool {
		return slices.ContainsFunc(n.Views, func(v NumberView) bool { return of(v).Known() })
	}
	sums := known(func(v NumberView) digits.Number { return v.Sum.Half })
	shown := known(func(v NumberView) digits.Number { return v.ShownFrom })
	worst := slices.ContainsFunc(n.Views, func(v NumberView) bool { return v.Count.Half != v.Count.Worst })
	optimum := known(func(v NumberView) digits.Number { return v.OverOptimum })
	return digits.TableOf(n.Views,
		digits.Col("", NumberView.called),
		digits.Col("count", func(v NumberView) string { return v.Count.String() }),
		digits.Col("at the\nworst step", func(v NumberView) string { return digits.PlusMinus(v.Count.Worst) }).If(worst),
		digits.Col("sum of\n"+n.Value, func(v NumberView) string { return digits.PlusMinus(v.Sum.Half) }).If(sums),
		digits.Col("at the\nworst step", func(v NumberView) string {
			return digits.PlusMinus(v.Sum.Worst)
		}).If(sums && worst),
		digits.Col(n.Counted+"\nin view", func(v NumberView) string { return digits.Four(v.Events) }),
		digits.Col("for each\ncell", func(v NumberView) string { return digits.Four(v.CellEvents) }),
		digits.Col("ratios\nshown from", func(v NumberView) string { return digits.Upper(v.ShownFrom) }).If(shown),
		digits.Col("variance over\nthe optimum", func(v NumberView) string {
			return digits.Upper(v.OverOptimum)
		}).If(optimum),
	)
}

func (n *Numbers) ratioRows(statistic string) *digits.Table {
	g := &digits.Table{}
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
			text = digits.PlusMinus(r.Middle) + " … " + digits.Four(r.Ends)
		}
		rows[r.View] = append(rows[r.View], text)
	}
	g.Add(head...)
	for _, view := range views {
		g.Add(rows[view]...)
	}
	return g
}

func (n *Numbers) incrementRows() *digits.Table {
	sums := n.Increments[0].Sum.Half.Known()
	return digits.TableOf(n.Increments,
		digits.Col("  steps", func(w Window) string { return "  " + strconv.FormatUint(w.Steps, 10) }),
		digits.Col("count", func(w Window) string { return digits.PlusMinus(w.Count.Half) }),
		digits.Col("sum of "+n.Value, func(w Window) string { return digits.PlusMinus(w.Sum.Half) }).If(sums),
	)
}

// Notes returns explanations for which the tables of numbers have no room.
func (n *Numbers) Notes() []string {
	lines := []string{
		"±: long after the start, and at the end of a stream that ends. After the rare steps where a memory's noise starts again",
		"it is larger for a while. The noise of one number stays much the same for a memory of steps; the noise of two cells is",
		"independent, and their difference has √2 times ± where both have the same.",
	}
	if len(n.Ratios) > 0 {
		lines = append(lines,
			"Ratios: – where a view never has n, and where n is below the smallest n at which ratios are shown: use the interval of the ratio alone.")
		if n.several() {
			lines = append(lines, "Variances and quantiles of several steps need ORIEL_INCREMENTS=true.")
		}
	}
	return lines
}
