package neighbours

import (
	"fmt"
	"slices"

	"oriel/mechanisms"
)

// Account compares the draws of two neighbouring streams with the accounted privacy loss. The scores of draws by any
// other law must follow from releases.
type Account struct {
	Law      mechanisms.Exponential
	Disjoint bool // an exchange changes all draws after a step together by no more than one draw's sensitivity

	Count uint64  // number of draws by Law
	Share float64 // largest share used of the account, by one draw or, if Disjoint, by all draws after a step

	step     uint64
	affected float64 // share used so far by the draws after step
}

// Add takes a draw of each stream. It returns a description of a difference that the account does not allow, or "" if
// there is none.
func (a *Account) Add(d, other mechanisms.Draw) (fault string) {
	if d.Step != other.Step || d.Place != other.Place || d.Instance != other.Instance || d.Law != other.Law ||
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
	a.Count++
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
