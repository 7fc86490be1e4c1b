package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/decisions"
	"oriel/cmd/internal/plan/opened"
	"oriel/cmd/internal/plan/statistics"
	"oriel/mechanisms"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// candidate returns the configuration of a variant under the given settings. note says how the configuration differs
// from the settings; reason says why the variant does not fit them.
func (in Input) candidate(v variant) (c mechanisms.Config, note, reason string) {
	c = in.Configured
	name, facts := v.name, opened.FactsOf(v.name)
	if in.configured(v) {
		return c, "", ""
	}
	c.Terms, note = c.Windowed()
	c.Name, c.AgeWeight, c.Poles = name, 0, 0
	_, several := c.Unit.EventSeparation()
	switch {
	case c.Budget.Delta == 0 && !facts.Pure():
		return c, "", "needs ORIEL_DELTA"
	case facts.EachStep() && several && c.Unit.Figures().Period == 0:
		return c, "", "has no user level: a user's events over a whole life have no bound"
	case facts.EachStep():
		c.Scope = protection.PerStep{}
		note = "releases the sum of each step alone, once, and no prefix sum; its ε holds for ever"
	case c.Batch == 0:
		return c, "", "remembers steps, and such sums stay by count"
	case c.Scope.Span() == 0:
		return c, "", "needs a window"
	}
	if err := in.Operator.Require(&c, nil); err != nil {
		return c, "", err.Error()
	}
	if facts.EachStep() {
		return c, note, ""
	}
	c.Scope = c.Scope.RoundedUp(false)
	switch {
	case facts.Filters() && c.Scope.Span() > facts.MaxWindow:
		return c, "", fmt.Sprintf("its windows end at %d steps", facts.MaxWindow)
	case facts.Filters():
		c.AgeWeight = in.AgeWeight
		return c, note, ""
	}
	if power := c.Scope.RoundedUp(true); power.Span() != c.Scope.Span() {
		c.Scope = power
		note = strings.TrimPrefix(note+fmt.Sprintf("; window %d, the next power of two", c.Scope.Span()), "; ")
	}
	return c, note, ""
}

// variants returns the mechanisms that a report considers.
func (in Input) variants() []variant {
	// Mechanisms for sums cannot replace selections.
	if !opened.FactsOf(in.Configured.Name).ReleasesSums() {
		return []variant{{name: in.Configured.Name}}
	}
	var all []variant
	takes := in.Operator.Describe(in.Configured).Mechanisms
	names := mechanisms.Names()
	if !slices.Contains(names, in.Configured.Name) { // a mechanism of a paper, which Names omits
		names = append(names, in.Configured.Name)
	}
	for _, name := range names {
		if takes != nil && !slices.Contains(takes, name) || takes == nil && opened.FactsOf(name).Discrete() {
			continue // discrete noise is for operators that state ℓ1 distances
		}
		all = append(all, variant{name: name})
		if _, decays := in.Configured.Scope.Memory(); decays && name == in.Configured.Name {
			all = append(all, variant{name: name, windowed: true})
		}
	}
	return all
}

// variant is a mechanism in a report. A configured mechanism with decaying sums appears a second time, with a window.
type variant struct {
	name     string
	windowed bool
}

// groups are the sizes of the group table.
var groups = []uint64{2, 5, 10}

// row describes a mechanism.
func (r *Report) row(m *opened.Mechanism, note string, o operators.Operator) (Mechanism, error) {
	figures, same := m.Config.Scope.Figures(), decays(m.Config.Scope) == decays(r.Setting.terms.Scope)
	_, several := m.Config.Unit.EventSeparation()
	mean, worst := m.RMS()
	root := math.Sqrt(float64(m.Config.Dimension()))
	row := Mechanism{
		Name: m.Config.Name, Note: note,
		Configured: m.Config.Name == r.Setting.Mechanism && same,
		Window:     figures.Window, Memory: figures.Memory, Poles: m.Poles(),
		NoiseScale: m.Scale(), RMSCoordinate: mean, WorstCoordinate: worst, RMSVector: mean * root, WorstVector: worst * root,
		OverOptimum: digits.None,
		Mu:          digits.None, Epsilon: digits.Number(m.Guarantee.Epsilon), EventEpsilon: digits.None,
		Delta:      m.Guarantee.Delta,
		StateBytes: m.Stream.StateLen() + noise.PartitionLen, Cost: m.Cost(), opened: m,
	}
	if same { // the optimum is for one kind of sums, prefix sums or decaying sums
		row.OverOptimum = m.OverOptimum(r.Optimum.Factor)
	}
	if m.Several() {
		row.Components = m.Components()
	}
	if m.Guarantee.Mu > 0 {
		row.Mu = digits.Number(m.Guarantee.Mu)
	}
	switch {
	case m.Config.Unit.Figures().Period > 0: // the user's next record counts in place of one that is absent
		row.EventEpsilon = digits.Number(m.Guarantee.AtOneEvent().Epsilon)
	case several:
		event, err := m.Calibration.EventGuarantee(m.Config)
		if err != nil {
			return Mechanism{}, err
		}
		row.EventEpsilon = digits.Number(event.Epsilon)
	}
	var steps []uint64
	for _, age := range r.Ages {
		steps = append(steps, age.Steps)
		loss := Loss{age.Steps, digits.Number(m.Guarantee.At(age.Steps).Epsilon), digits.None}
		if several {
			loss.All = digits.Number(m.Guarantee.AtAll(age.Steps).Epsilon)
		}
		row.Losses = append(row.Losses, loss)
	}
	row.Decisions, row.Settles = decisions.NoiseOf(m, o.Describe(m.Config), steps)
	for _, k := range groups {
		row.Groups = append(row.Groups, Group{k, digits.Number(m.Guarantee.Group(k).Epsilon)})
	}
	return row, nil
}

// numbers fills in the numbers of all mechanisms, if decisions are numbers.
func (r *Report) numbers(in Input) error {
	for i := range r.Mechanisms {
		row := &r.Mechanisms[i]
		n := in.Operator.Describe(row.opened.Config).Precision
		if n == nil {
			return nil
		}
		if r.Numbers == nil {
			r.Numbers = statistics.New(n, in.stepEvents(), in.Clock.Clock.Length)
		}
		if err := r.Numbers.Add(row.opened, n, row.Configured, row.OverOptimum); err != nil {
			return err
		}
		if row.Configured {
			r.Numbers.AddRatios(row.opened, n, in.After)
		}
	}
	return nil
}
