package plan

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/operators"
)

// Target is the error in one statistic that a user asks for.
type Target struct {
	Statistic string  // name of the statistic
	Half      float64 // target half-width of the 95 % interval, in the unit of the statistic, > 0
	After     uint64  // number of events in the cell of a ratio; 0: all cells have equally many
	// for a ratio: the mean or the quantile of the values, in the unit of the values; NaN: the worst possible one
	Near float64
	View uint64 // memory of the view, steps; 0: every view
	Own  bool   // Error considers only views of the mechanism's own sums, not of sums with another memory
}

// Reached is the error under given settings: the largest over the requested views.
type Reached struct {
	Half float64 // half-width of the 95 % interval; +Inf if the number is never shown
	Unit string  // unit of Half; empty: events for a count, otherwise the unit of the values
	Why  string  // reason why Half is +Inf
}

// Error returns the error under given settings. It fails if they do not have the target's statistic or view.
func (w Target) Error(in Input) (Reached, error) {
	n := in.Operator.Describe(in.Configured).Precision
	if n == nil {
		return Reached{}, errors.New("the operator's decisions are no numbers whose noise is known")
	}
	s, ok := n.Statistic(w.Statistic)
	if !ok {
		return Reached{}, fmt.Errorf("%s: not among the statistics that are configured", w.Statistic)
	}
	mean, err := w.mean(n)
	if err != nil {
		return Reached{}, err
	}
	m, err := open(in.Configured)
	if err != nil {
		return Reached{}, err
	}
	memory, _ := in.Configured.Scope.Memory()
	worst, names := Reached{}, []string{}
	for _, v := range n.Views {
		names = append(names, v.Name)
		if w.View > 0 && v.Memory != w.View {
			continue
		}
		if w.Own && v.Memory != memory {
			return Reached{}, fmt.Errorf("%s is read beside ORIEL_MEMORY, in steps that would change their length or their filter; "+
				"leave other memories out, or solve for epsilon", v.Name)
		}
		row, err := m.view(n, v)
		if err != nil {
			return Reached{}, err
		}
		r, err := w.reached(s, row, mean)
		if err != nil {
			return Reached{}, err
		}
		if r.Half > worst.Half {
			worst = r
		}
	}
	worst.Unit = s.Unit
	if worst.Half == 0 {
		return Reached{}, fmt.Errorf("memory %d is none of those that numbers are read at: %s", w.View,
			strings.Join(names, ", "))
	}
	return worst, nil
}

// mean returns the position of the mean within the range of values, or NaN if the target gives no mean.
func (w Target) mean(n *operators.Precision) (float64, error) {
	if math.IsNaN(w.Near) {
		return w.Near, nil
	}
	mean := (2*w.Near - n.Low - n.High) / (n.High - n.Low)
	if !(mean >= -1 && mean <= 1) {
		return 0, fmt.Errorf("%g: not in the range of values, %g to %g", w.Near, n.Low, n.High)
	}
	return mean, nil
}

// reached returns the error in one view.
func (w Target) reached(s operators.Statistic, row NumberView, mean float64) (Reached, error) {
	sigma, events := float64(row.Sigma), float64(w.After)
	if !s.Ratio {
		return Reached{Half: z95 * s.Deviation(sigma, operators.Cell{})}, nil
	}
	if w.After == 0 {
		if events = float64(row.CellEvents); math.IsNaN(events) {
			return Reached{}, fmt.Errorf("%s: a cell has more and more events; say after how many", row.View)
		}
	}
	switch {
	case events > float64(row.Events):
		return Reached{
			Half: math.Inf(1), Why: fmt.Sprintf("%s never has %g events, but %g", row.View, events, float64(row.Events)),
		}, nil
	case events <= s.Shown*sigma:
		return Reached{
			Half: math.Inf(1), Why: fmt.Sprintf("%s: %s over %s events is lost in noise; a readable number takes more than %s", row.View,
				s.Name, digits.Four(events), digits.Four(s.Shown*sigma)),
		}, nil
	}
	at := func(mean float64) float64 {
		return z95 * s.Deviation(sigma, operators.Cell{Events: events, Mean: mean})
	}
	if math.IsNaN(mean) {
		return Reached{Half: largest(at)}, nil
	}
	return Reached{Half: at(mean)}, nil
}

// largest returns the largest error of a ratio over all positions in the range. Means and variances have it at an end
// or in the middle; quantiles may have it anywhere.
func largest(at func(mean float64) float64) float64 {
	const places = 256
	most := at(-1)
	for i := range places {
		most = max(most, at(2*float64(i+1)/places-1))
	}
	return most
}
