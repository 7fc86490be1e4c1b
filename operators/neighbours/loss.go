package neighbours

import (
	"errors"
	"fmt"
	"slices"

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
	if !facts.ReleasesSums() {
		return 0, "", nil
	}
	f, err := s.frame()
	if err != nil {
		return 0, "", err
	}
	if len(f.players) == 0 {
		return 0, "", errors.New("neighbours: no pair was compared")
	}
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
	claim, name := f.guarantee.Epsilon, "epsilon"
	if law.Gaussian() {
		claim, name = f.guarantee.Mu, "mu"
		if f.guarantee.Curve != nil {
			claim = min(claim, f.guarantee.Curve.Mu(age))
		}
	}
	share = law.Reach() / claim
	if share > 1+rounding {
		fault = fmt.Sprintf("contributions that are as far apart lose %s = %.6g, the guarantee says %.6g", name, law.Reach(), claim)
	}
	return share, fault, nil
}

// Account compares the draws of two neighbouring streams with the accounted privacy loss. The scores of draws by any
// other law must follow from releases.
type Account struct {
	Law      mechanisms.Exponential
	Unlike   bool // scores of draws by Law may differ by any amount
	Disjoint bool // an exchange changes all draws after a step together by no more than one draw's sensitivity

	Count uint64  // number of draws by Law
	Share float64 // largest share used of the account, by one draw or, if Disjoint, by all draws after a step

	step     uint64
	affected float64 // share used so far by the draws after step
}

// Add takes a draw of each stream. It returns a description of a difference that the account does not allow, or "" if
// there is none.
func (a *Account) Add(d, other mechanisms.Draw) (fault string) {
	if d.Step != other.Step || d.Instance != other.Instance || d.Law != other.Law ||
		len(d.Scores) != len(other.Scores) {
		return "another draw than the recorded stream has: at another place, by another law or among another number of scores"
	}
	differences := make([]int64, len(d.Scores))
	for i, q := range d.Scores {
		differences[i] = q - other.Scores[i]
	}
	least, most := slices.Min(differences), slices.Max(differences)
	if d.Law != a.Law {
		if least != 0 || most != 0 {
			return "scores of a draw depend on events beside releases, and no guarantee has the price"
		}
		return ""
	}
	if a.Count++; a.Unlike {
		return ""
	}
	if !a.Disjoint || d.Step != a.step {
		a.step, a.affected = d.Step, 0
	}
	sensitivity := float64(d.Law.Sensitivity.Num) / float64(d.Law.Sensitivity.Den)
	a.affected += float64(most-least) / (2 * sensitivity)
	a.Share = max(a.Share, a.affected)
	if a.affected > 1 {
		return fmt.Sprintf("scores of a draw move by %d to %d, the account has %g", least, most, sensitivity)
	}
	return ""
}
