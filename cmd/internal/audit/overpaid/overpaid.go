package overpaid

import (
	"math"
	"slices"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/operators"
)

// Limits that keep the run time of Overpaid within milliseconds.
const (
	directions = 2 // number of dense directions, and of single coordinates, that are tried
	// largest number of coordinates of a contribution, and of numbers from which it is computed
	mostCoordinates = 1 << 12
	mostPreceding   = 1 << 12 // largest number of records before the contribution
)

// leastShare is the share of a sensitivity that a move must reach. A sensitivity holds for all histories, but moves are
// measured at a stream's start, where contributions may be closer together: for example, if rewards depend on a
// published set. Among the golden cases, the smallest share is 0.76.
const leastShare = 0.75

// Components returns the components whose noise is calibrated to more than an exchange of one event can move, as far as
// the operator's reference model shows it. It returns none if the search is expensive, for example if contributions are
// very long, and none for names, whose counts every event moves by 1. Equal settings give equal results.
func Components(m mechanisms.Config, c operators.Operator) []subject.Move {
	if m.Contribution.Names > 0 || max(m.Contribution.Entries(), m.Dimension()) > mostCoordinates {
		return nil
	}
	a, err := subject.Of(m, c, [32]byte{}, subject.AllComponents)
	if err != nil || a.Drawing() {
		return nil
	}
	a, err = a.Deployed() // the deployed machine may be much faster, and its first contribution is known
	if err != nil || a.Earliest() > m.Scope.End() || a.Earliest()-1 > mostPreceding/a.Places() {
		return nil
	}
	moves, err := largestMoves(a)
	if err != nil {
		return nil
	}
	var overpaid []subject.Move
	for i, move := range moves {
		if !reaches(move) && !marked(a, i) {
			overpaid = append(overpaid, move)
		}
	}
	return overpaid
}

// marked reports whether a component has columns of marks, which a prediction band adds. Such a component is never
// overpaid: two events with different marks attain its sensitivity exactly. At the start of a stream there may be no
// such events. For example, the first set of labels of a band contains both classes.
func marked(a *subject.Subject, i int) bool {
	_, marks := a.Mechanism.Contribution.Components[i].Quantiser.(contribution.Marks)
	return marks
}

// reaches reports whether the noise covers little more than the move.
func reaches(m subject.Move) bool { return m.Distance >= leastShare*m.Sensitivity }

// largestMoves returns the largest move of each component that canaries cause. It tries one direction after another
// until all moves reach their sensitivities.
func largestMoves(a *subject.Subject) ([]subject.Move, error) {
	p, err := a.Open()
	if err != nil {
		return nil, err
	}
	moves := make([]subject.Move, len(a.Components))
	for i := range moves {
		moves[i] = a.Move(i, 0)
	}
	seen := false
	for k := range 2 * directions {
		u := a.Dense(a.Random("direction", uint64(k)))
		if k >= directions {
			u = a.Axis((k - directions) % a.Numbers())
		}
		if slices.ContainsFunc(u, math.IsNaN) {
			continue
		}
		both, err := contributions(p, u)
		if err != nil {
			return nil, err
		}
		for i := range moves {
			moves[i].Distance = max(moves[i].Distance, diameter(a, i, both))
		}
		few := slices.ContainsFunc(moves, func(m subject.Move) bool { return !reaches(m) })
		if seen = seen || len(both) > 1; seen && !few {
			return moves, nil
		}
	}
	if !seen {
		return nil, subject.ErrUnseen
	}
	return moves, nil
}

// contributions returns the possible contributions of an event at the first step that can have one, after the same
// history: zero, the contribution of the null event, and the contributions of a pair of canaries along u. If
// neighbouring streams differ by the null event, the canaries are along u and −u.
func contributions(p *subject.Player, u []float64) ([][]float64, error) {
	opposite := slices.Clone(u)
	for i := range opposite {
		opposite[i] = -u[i]
	}
	all := [][]float64{make([]float64, len(p.Contribution))}
	for _, canary := range []bool{true, false} {
		along := u
		if !canary && p.Subject.Mechanism.Unit.AgainstNull() {
			along, canary = opposite, true
		}
		_, adds, err := p.ContributionAt(p.Subject.Earliest(), along, math.MaxUint64, canary)
		if err != nil {
			return nil, err
		}
		if adds {
			all = append(all, slices.Clone(p.Contribution))
		}
	}
	return all, nil
}

// diameter returns the largest distance by which an exchange moves a component: between any two of the contributions
// or, if neighbouring streams differ by the null event, between the null event's contribution and any other.
func diameter(a *subject.Subject, i int, contributions [][]float64) float64 {
	most := 0.0
	for n, x := range contributions {
		others := contributions[:n]
		if a.Mechanism.Unit.AgainstNull() {
			others = contributions[:1]
		}
		for _, y := range others {
			most = max(most, a.Distance(i, x, y))
		}
	}
	return most
}
