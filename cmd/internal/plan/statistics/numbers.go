package statistics

import (
	"fmt"
	"math"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/protection"
	"oriel/operators/description"
)

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

	step   digits.Number // events in a step
	length int64         // seconds of a step by the clock; 0: by count
}

// NumberView holds the figures of one kind of sums of a mechanism.
type NumberView struct {
	Mechanism  string `json:"mechanism"`
	Configured bool   `json:"configured"`
	Window     uint64 `json:"window_steps"`
	View       string `json:"view"`
	Memory     uint64 `json:"memory_steps"`
	Steps      uint64 `json:"steps,omitempty"` // number of steps that readers add up; omitted: one decision
	// number of events that a number covers; decayed events count by their remaining weight; null: unbounded
	Events     digits.Number `json:"events"`
	CellEvents digits.Number `json:"events_of_a_cell"` // Events for each cell, if all cells have equally many events
	Sigma      digits.Number `json:"deviation"`        // standard deviation of a released coordinate, loss units
	Count      Spread        `json:"count"`
	Sum        Spread        `json:"sum"` // null if no sum is configured
	// number of events in a cell from which on all ratios are shown; null without ratios
	ShownFrom   digits.Number `json:"ratios_shown_from"`
	OverOptimum digits.Number `json:"variance_over_optimum"`

	z, mean float64 // within how many deviations the noise of a ratio and of a mean is in 95 % of cases
}

// Spread is the noise of a number, in the unit of the number.
type Spread struct {
	Deviation digits.Number `json:"deviation"`
	Half      digits.Number `json:"half_width"`       // half-width of the 95 % interval
	Worst     digits.Number `json:"worst_half_width"` // half-width at the worst step

	// Window is of whole numbers: a number y has the interval [y + Window[0], y + Window[1]].
	Window *[2]float64 `json:"interval,omitempty"`
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

// New returns Numbers without figures, for the numbers that p describes and this number of events in a step, which is
// None if it is unknown. length is the length of a step by the clock, s, or 0.
func New(p *description.Precision, step digits.Number, length int64) *Numbers {
	return &Numbers{Level: 0.95, Cells: p.Cells, Counted: p.Events, Value: p.Value, step: step, length: length}
}

// Add adds the views of a mechanism. overOptimum is the mechanism's variance over the optimum, for views of its own
// sums.
func (n *Numbers) Add(m *opened.Mechanism, p *description.Precision, configured bool, overOptimum digits.Number) error {
	if m.PerStep() {
		p.Views = append(p.Views, spans(n.length, p.MostSteps)...)
	}
	for _, v := range p.Views {
		row, err := viewOf(m, p, v, n.step)
		if err != nil {
			return err
		}
		if row.Configured = configured; v.Memory == 0 {
			row.OverOptimum = overOptimum
		}
		n.Views = append(n.Views, row)
	}
	return nil
}

// AddRatios adds the ratios of the configured mechanism, also over `after` events in a cell unless after is 0. It adds
// the increments, too.
func (n *Numbers) AddRatios(m *opened.Mechanism, p *description.Precision, after uint64) {
	rows := n.Views[len(n.Views)-len(p.Views):]
	columns := afters(p, rows, after)
	for _, row := range rows {
		n.Ratios = append(n.Ratios, ratios(p, row, columns)...)
	}
	if _, decays := m.Config.Scope.Memory(); p.Increments && decays {
		n.Increments = windows(m, p)
	}
}

// viewOf returns the figures of a view. They follow from the noise of a coordinate, from the operator's description of
// its statistics, and from the number of events in a step.
func viewOf(m *opened.Mechanism, n *description.Precision, v description.View, step digits.Number) (NumberView, error) {
	d, err := m.Stream.Deviation(0, v.Memory)
	if err != nil {
		return NumberView{}, err
	}
	c := m.Config
	steps := float64(max(1, v.Steps))
	sigma, worst, root := d.SteadyState(), d.Worst(), math.Sqrt(steps)
	row := NumberView{
		Mechanism: c.Name, Window: c.Scope.Figures().Window, View: v.Name, Memory: v.Memory, Steps: v.Steps,
		Events: digits.None, Sigma: digits.Number(root * sigma), z: n.Quantile, mean: n.Quantile,
		Count: spread(n, root*n.Count(sigma), root*n.Count(worst)), Sum: none,
		ShownFrom: digits.None, OverOptimum: digits.None,
	}
	switch {
	case v.Memory > 0:
		row.Events = digits.Number(v.Memory) * step
		unit := m.Sensitivity() / m.Guarantee.Mu
		row.OverOptimum = digits.Number(sigma * sigma / (unit * unit) / decay.Optimum(v.Memory))
	case m.PerStep():
		row.Events = step * digits.Number(steps)
	case c.Scope.End() != protection.Endless:
		row.Events = digits.Number(c.Scope.End()) * step
	}
	row.CellEvents = row.Events / digits.Number(n.Cells)
	for _, s := range n.Statistics {
		switch {
		case s.Ratio:
			if from := digits.Number(s.Shown*sigma) * digits.Number(root); !(from <= row.ShownFrom) {
				row.ShownFrom = from // the largest threshold of all ratios
			}
		case s.Name == statisticSum:
			row.Sum = spread(n, root*s.Deviation(sigma, description.Cell{}), root*s.Deviation(worst, description.Cell{}))
		}
	}
	row.draw(n, sigma, steps)
	return row, nil
}

func spread(n *description.Precision, settled, worst float64) Spread {
	return Spread{
		Deviation: digits.Number(settled), Half: digits.Number(n.Quantile * settled),
		Worst: digits.Number(n.Quantile * worst),
	}
}

// none is the noise of a number that is not configured.
var none = Spread{Deviation: digits.None, Half: digits.None, Worst: digits.None}

// windows returns windows of 1, 4, 16, … steps, up to the first that is at least four memories long.
func windows(m *opened.Mechanism, n *description.Precision) []Window {
	memory, _ := m.Config.Scope.Memory()
	var all []Window
	for w := uint64(1); ; w *= windowStep {
		sigma := m.Stream.WindowDeviation(0, w)
		row := Window{Steps: w, Count: spread(n, n.Count(sigma), n.Count(sigma)), Sum: none}
		if s, ok := n.Statistic(statisticSum); ok {
			x := s.Deviation(sigma, description.Cell{})
			row.Sum = spread(n, x, x)
		}
		if all = append(all, row); w >= windowStep*memory {
			return all
		}
	}
}

// Warnings returns a warning for each view of the configured mechanism whose noise is larger than its counts, and for a
// release of single steps whose numbers would have less noise under another mechanism. The sums of any number of steps
// would then have less noise too, because the noise of steps is independent under both.
func (n *Numbers) Warnings() (all []string) {
	for _, v := range n.Views {
		for _, other := range n.Views {
			if v.Configured && !other.Configured && v.Steps == 0 && v.View == other.View &&
				other.Count.Deviation < 0.9*v.Count.Deviation {
				all = append(all, fmt.Sprintf("%s: the noise of a count has a deviation of %s, and %s under "+
					"ORIEL_MECHANISM=%s, whatever number of steps will be added up", v.View, digits.Four(v.Count.Deviation),
					digits.Four(other.Count.Deviation), other.Mechanism))
			}
		}
		if v.Configured && v.Count.Deviation > v.CellEvents {
			all = append(all, fmt.Sprintf("%s: %d cells share %s %s, %s each if all have as many, and the noise of a "+
				"count is %s: take fewer cells, or more events together", v.View, n.Cells, digits.Four(v.Events),
				n.Counted, digits.Four(v.CellEvents), digits.Four(v.Count.Deviation)))
		}
	}
	return all
}
