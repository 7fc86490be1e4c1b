package subject

import (
	"fmt"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
)

// AllComponents selects all components of a contribution for one audit.
const AllComponents = -1

// ComponentOf returns the configuration and the calibration of one component, as if it were the only component of a
// stream; the budget of the configuration is then the component's share. For AllComponents, it returns c and p.
func ComponentOf(
	c mechanisms.Config, p mechanisms.Calibration, index int,
) (mechanisms.Config, mechanisms.Calibration, error) {
	switch {
	case index == AllComponents:
		return c, p, nil
	case index < 0 || index >= len(c.Contribution.Components):
		return c, p, fmt.Errorf("audit: component %d of a contribution that has %d, from 0",
			index, len(c.Contribution.Components))
	case p.Components == nil || len(p.Components) == 1:
		return c, p, nil
	}
	component, calibration, shares := c.Contribution.Components[index], p.Components[index], 0.0
	for _, x := range c.Contribution.Components {
		shares += float64(x.Share)
	}
	c.Contribution = contribution.Contribution{
		Components: []contribution.Component{component}, Nonzero: min(c.Contribution.Nonzero, component.Size),
	}
	one := mechanisms.Calibration{
		Name: p.Name, Grid: calibration.Grid, Scale: calibration.Scale, Levels: p.Levels, Filter: p.Filter, Decay: p.Decay,
		ErrorBound: calibration.ErrorBound,
	}
	if component.Quantiser != nil || component.Scales != nil {
		one.Components = []mechanisms.ComponentCalibration{calibration}
	}
	if facts, _ := mechanisms.FactsOf(c.Name); facts.Pure() {
		c.Budget.Epsilon *= float64(component.Share) / shares
		return c, one, nil
	}
	alone, err := one.Guarantee(c)
	if err != nil {
		return c, p, err
	}
	c.Budget.Epsilon = dp.GaussianEpsilon(alone.Mu, c.Budget.Delta)
	return c, one, nil
}

// Bounds returns the range of one component's numbers within the numbers that a record adds.
func (a *Subject) Bounds(index int) (from, to int) {
	for i := range index {
		from += a.WholeMechanism.Contribution.Components[i].Entries()
	}
	return from, from + a.WholeMechanism.Contribution.Components[index].Entries()
}

// OtherComponents describes the components that an audit of one component leaves out.
func (a *Subject) OtherComponents() []string {
	var left []string
	for i, p := range a.WholeMechanism.Contribution.Components {
		if i < a.First || i >= a.First+len(a.Components) {
			left = append(left, fmt.Sprintf("component %d of the contribution (%s): --component %d", i, p.Name, i))
		}
	}
	return left
}

// HasQuantiser reports whether an audited component has a quantiser, which defines contributions and their sensitivity
// itself.
func (a *Subject) HasQuantiser() bool {
	return slices.ContainsFunc(a.Mechanism.Contribution.Components, func(c contribution.Component) bool {
		return c.Quantiser != nil
	})
}
