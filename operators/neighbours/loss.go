package neighbours

import (
	"errors"
	"fmt"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/definition"
)

// longestAge is the number of releases over which Loss follows an event.
const longestAge = 1024

// rounding is the relative floating-point error by which the loss of an exchange may exceed a guarantee.
const rounding = 1e-9

// Loss compares contributions that differ by largest, as reports list it, with the guarantee. It assumes that all
// events of a unit are exchanged, from the first step on, by contributions that differ by largest. It computes the
// privacy loss of the releases by definitions that share no code with the calibration. It returns this loss as a share
// of the claim, and a fault if the share is above 1.
func (s *Subject) Loss(largest [][]int64) (share float64, fault string, err error) {
	c, p := s.Mechanism, s.Calibration
	facts, _ := mechanisms.FactsOf(c.Name)
	if facts.Structure == mechanisms.Selection {
		return 0, "", nil
	}
	f, err := s.frame()
	if err != nil {
		return 0, "", err
	}
	if len(f.players) == 0 {
		return 0, "", errors.New("neighbours: no pair was compared")
	}
	guarantee := f.guarantee
	age := max(1, min(c.Scope.Span(), longestAge, c.Scope.End()))
	if _, decays := c.Scope.Memory(); decays {
		age = longestAge
	}
	k, err := audit.NewCanary(c, 1, age)
	if err != nil {
		return 0, "", err
	}
	k.Without = make([]float64, c.Dimension())
	for _, component := range largest {
		for _, x := range component {
			k.With = append(k.With, float64(x))
		}
	}
	for i, unit := range definition.Integers(c, p) {
		k.With[i] = float64(k.With[i] * unit)
	}
	law, err := audit.NewLaw(c, p, k)
	if err != nil {
		return 0, "", fmt.Errorf("neighbours: no pair of records moves a contribution: %w", err)
	}
	claim, name := guarantee.Epsilon, "epsilon"
	if law.Gaussian() {
		claim, name = guarantee.Mu, "mu"
		if guarantee.Curve != nil {
			claim = min(claim, guarantee.Curve.Mu(age))
		}
	}
	share = law.Reach() / claim
	if share > 1+rounding {
		fault = fmt.Sprintf("contributions that are as far apart lose %s = %.6g, the guarantee says %.6g", name, law.Reach(), claim)
	}
	return share, fault, nil
}
