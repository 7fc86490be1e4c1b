package statistics

import (
	"errors"
	"fmt"
	"math"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/description"
)

// Target is a number whose error is asked for.
type Target struct {
	Statistic string // name of the statistic
	After     uint64 // number of events in the cell of a ratio; 0: all cells have equally many
}

// Error returns the largest half-width of the number's 95 % interval over all views, in the unit of the statistic. The
// half-width of a ratio is that for the worst possible values, and +Inf if the ratio is never shown. Error fails if the
// settings do not have the statistic.
func (w Target) Error(c mechanisms.Config, o operators.Operator) (half float64, err error) {
	n := o.Describe(c).Precision
	if n == nil {
		return 0, errors.New("the operator's decisions are no numbers whose noise is known")
	}
	s, ok := n.Statistic(w.Statistic)
	if !ok {
		return 0, fmt.Errorf("%s: not among the statistics that are configured", w.Statistic)
	}
	m, err := opened.New(c)
	if err != nil {
		return 0, err
	}
	step := digits.Number(c.Batch)
	if c.Batch == 0 {
		step = digits.None
	}
	for _, v := range n.Views {
		row, err := viewOf(m, n, v, step)
		if err != nil {
			return 0, err
		}
		one, err := w.half(s, row)
		if err != nil {
			return 0, err
		}
		half = max(half, one)
	}
	return half, nil
}

// half returns the half-width in one view.
func (w Target) half(s description.Statistic, row NumberView) (float64, error) {
	sigma, events := float64(row.Sigma), float64(w.After)
	switch {
	case s.Name == statisticSum:
		return float64(row.Sum.Half), nil
	case !s.Ratio:
		return float64(row.Count.Half), nil
	}
	if w.After == 0 {
		if events = float64(row.CellEvents); math.IsNaN(events) {
			return 0, fmt.Errorf("%s: a cell has no fixed number of events; say after how many", row.View)
		}
	}
	if events > float64(row.Events) || events <= s.Shown*sigma {
		return math.Inf(1), nil
	}
	return largest(func(mean float64) float64 {
		return row.quantile(s) * s.Deviation(sigma, description.Cell{Events: events, Mean: mean})
	}), nil
}
