package plan

import (
	"fmt"
	"slices"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// z95 is the two-sided normal quantile of 95 %: Φ(z95) − Φ(−z95) = 0.95.
const z95 = 1.959963984540054

// Numbers describes how exact the numbers of decisions are if the noise of privacy is the only error. Each figure is
// the half-width of the 95 % interval of one number at one step, long after the start, or at the end of a stream that
// ends.
type Numbers struct {
	Level      float64       `json:"level"` // level of the intervals, always 0.95
	Cells      int           `json:"cells"`
	Counted    string        `json:"counted"`          // noun for the counted events
	Value      string        `json:"value,omitempty"`  // the column of values, for all statistics except counts
	Views      []NumberView  `json:"views"`            // the configured mechanism first
	Ratios     []NumberRatio `json:"ratios,omitempty"` // ratios of the configured mechanism; other mechanisms have none
	Increments []Window      `json:"increments,omitempty"`
}

// NumberView holds the figures of one kind of sums of a mechanism.
type NumberView struct {
	Mechanism  string `json:"mechanism"`
	Configured bool   `json:"configured"`
	Window     uint64 `json:"window_steps"`
	View       string `json:"view"`
	Memory     uint64 `json:"memory_steps"`
	// number of events that a number covers; decayed events count by their remaining weight; null: unbounded
	Events     digits.Number `json:"events"`
	CellEvents digits.Number `json:"events_of_a_cell"` // Events for each cell, if all cells have equally many events
	Sigma      digits.Number `json:"deviation"`        // standard deviation of a released coordinate, loss units
	Count      Spread        `json:"count"`
	Sum        Spread        `json:"sum"` // null if no sum is configured
	// number of events in a cell from which on all ratios are shown; null without ratios
	ShownFrom   digits.Number `json:"ratios_shown_from"`
	OverOptimum digits.Number `json:"variance_over_optimum"`
}

// Spread is the noise of a number, in the unit of the number.
type Spread struct {
	Deviation digits.Number `json:"deviation"`
	Half      digits.Number `json:"half_width"`       // half-width of the 95 % interval
	Worst     digits.Number `json:"worst_half_width"` // half-width at the worst step
}

// NumberRatio is the half-width of the 95 % interval of a ratio in one view, after a number of events in its cell. It
// is null if a cell never has that many events, or if ratios over that few events are not shown.
type NumberRatio struct {
	View      string `json:"view"`
	Statistic string `json:"statistic"`
	// unit, if it differs from the unit of the values; for a variance, the square of their unit
	Unit   string        `json:"unit,omitempty"`
	Events uint64        `json:"events"`
	Middle digits.Number `json:"half_width"` // half-width if the mean of the values is in the middle of their range
	// the largest half-width; for means, it is attained at either end of the range
	Ends digits.Number `json:"half_width_at_ends"`
}

// Window is the noise of a sum of increments.
type Window struct {
	Steps uint64 `json:"steps"`
	Count Spread `json:"count"`
	Sum   Spread `json:"sum"`
}

const (
	statisticSum = "sum"
	leastAfter   = 100       // fewest events of a cell in the columns of ratios, which are powers of ten
	mostAfter    = 1_000_000 // largest number of events of a cell in these columns
	windowStep   = 4         // factor between successive window lengths
)

// numbers fills in the numbers of all mechanisms.
func (r *Report) numbers(in Input) error {
	for i := range r.Mechanisms {
		m, configured := r.Mechanisms[i].machine, r.Mechanisms[i].Configured
		n := in.Operator.Describe(m.config).Precision
		if r.Numbers == nil {
			r.Numbers = &Numbers{Level: 0.95, Cells: n.Cells, Counted: n.Events, Value: n.Value}
		}
		var rows []NumberView
		for _, v := range n.Views {
			row, err := m.view(n, v)
			if err != nil {
				return err
			}
			if row.Configured = configured; v.Memory == 0 {
				row.OverOptimum = r.Mechanisms[i].OverOptimum
			}
			rows = append(rows, row)
		}
		r.Numbers.Views = append(r.Numbers.Views, rows...)
		if !configured {
			continue
		}
		after := afters(n, rows, in.After)
		for _, row := range rows {
			r.Numbers.Ratios = append(r.Numbers.Ratios, ratios(n, row, after)...)
		}
		if n.Increments {
			r.Numbers.Increments = m.windows(n)
		}
	}
	return nil
}

// view returns the figures of a view. They follow from the noise of a coordinate, and from the operator's description
// of its statistics.
func (m *machine) view(n *operators.Precision, v operators.View) (NumberView, error) {
	d, err := m.stream.Deviation(0, v.Memory)
	if err != nil {
		return NumberView{}, err
	}
	c := m.config
	sigma, worst := d.SteadyState(), d.Worst()
	row := NumberView{
		Mechanism: c.Name, Window: c.Scope.Figures().Window, View: v.Name, Memory: v.Memory, Events: digits.None,
		Sigma: digits.Number(sigma),
		Count: spread(sigma/n.Count, worst/n.Count), Sum: Spread{digits.None, digits.None, digits.None}, ShownFrom: digits.None, OverOptimum: digits.None,
	}
	switch {
	case v.Memory > 0:
		row.Events = digits.Number(v.Memory) * digits.Number(c.Batch)
		unit := m.sensitivity() / m.guarantee.Mu
		row.OverOptimum = digits.Number(sigma * sigma / (unit * unit) / decay.Optimum(v.Memory))
	case m.stream.PerStep():
		row.Events = digits.Number(c.Batch)
	case c.Scope.End() != protection.Endless:
		row.Events = digits.Number(c.Scope.End()) * digits.Number(c.Batch)
	}
	row.CellEvents = row.Events / digits.Number(n.Cells)
	for _, s := range n.Statistics {
		switch {
		case s.Ratio:
			if from := digits.Number(s.Shown * sigma); !(from <= row.ShownFrom) {
				row.ShownFrom = from // the largest threshold of all ratios
			}
		case s.Name == statisticSum:
			row.Sum = spread(s.Deviation(sigma, operators.Cell{}), s.Deviation(worst, operators.Cell{}))
		}
	}
	return row, nil
}

func spread(settled, worst float64) Spread {
	return Spread{digits.Number(settled), digits.Number(z95 * settled), digits.Number(z95 * worst)}
}

// ratios returns the ratios of a view, with one column for each number of events in after.
func ratios(n *operators.Precision, row NumberView, after []uint64) []NumberRatio {
	var all []NumberRatio
	for _, s := range n.Statistics {
		for _, events := range after {
			if !s.Ratio {
				break
			}
			ratio := NumberRatio{View: row.View, Statistic: s.Name, Unit: s.Unit, Events: events, Middle: digits.None, Ends: digits.None}
			if row.has(events, s) {
				at := func(mean float64) float64 {
					return z95 * s.Deviation(float64(row.Sigma), operators.Cell{Events: float64(events), Mean: mean})
				}
				ratio.Middle, ratio.Ends = digits.Number(at(0)), digits.Number(largest(at))
			}
			all = append(all, ratio)
		}
	}
	return all
}

// afters returns the columns of ratios: each power of ten at which some view has a ratio, and the requested number of
// events.
func afters(n *operators.Precision, rows []NumberView, asked uint64) []uint64 {
	var all []uint64
	for x := uint64(leastAfter); x <= mostAfter; x *= 10 {
		if slices.ContainsFunc(rows, func(v NumberView) bool {
			return slices.ContainsFunc(n.Statistics, func(s operators.Statistic) bool { return v.has(x, s) })
		}) {
			all = append(all, x)
		}
	}
	if asked > 0 && !slices.Contains(all, asked) {
		all = append(all, asked)
		slices.Sort(all)
	}
	return all
}

// has reports whether a view has a ratio over this number of events: a cell can have that many, and they suffice for
// the ratio to be shown.
func (v NumberView) has(events uint64, s operators.Statistic) bool {
	x := digits.Number(events)
	return s.Ratio && x > digits.Number(s.Shown)*v.Sigma && !(x > v.Events)
}

// windows returns windows of 1, 4, 16, … steps, up to the first that is at least four memories long.
func (m *machine) windows(n *operators.Precision) []Window {
	memory, _ := m.config.Scope.Memory()
	var all []Window
	for w := uint64(1); ; w *= windowStep {
		sigma := m.stream.WindowDeviation(0, w)
		row := Window{Steps: w, Count: spread(sigma/n.Count, sigma/n.Count), Sum: Spread{digits.None, digits.None, digits.None}}
		if s, ok := n.Statistic(statisticSum); ok {
			x := s.Deviation(sigma, operators.Cell{})
			row.Sum = spread(x, x)
		}
		if all = append(all, row); w >= windowStep*memory {
			return all
		}
	}
}

// warnOfNumbers adds a warning if noise is larger than the counts.
func (r *Report) warnOfNumbers() {
	if r.Numbers == nil {
		return
	}
	for _, v := range r.Numbers.Views {
		if v.Configured && v.Count.Deviation > v.CellEvents {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %d cells share %s %s, %s each if all have as many, and the noise of a "+
				"count is %s: take fewer cells, or more events together", v.View, r.Numbers.Cells, digits.Four(v.Events),
				r.Numbers.Counted, digits.Four(v.CellEvents), digits.Four(v.Count.Deviation)))
		}
	}
}
