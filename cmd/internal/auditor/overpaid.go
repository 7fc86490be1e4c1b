package auditor

import (
	"math"
	"slices"

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

// Move says how far an exchange of one event moves a component's sum, and to which sensitivity the noise of the
// component is calibrated. Both are in scaled coordinates and loss units.
type Move struct {
	Name        string  `json:"name"`
	Distance    float64 `json:"distance"`
	Sensitivity float64 `json:"sensitivity"`
}

// Overpaid returns the components whose noise is calibrated to more than an exchange of one event can move, as far as
// the operator's reference model shows it. It returns none if the search is expensive, for example if contributions are
// very long. Equal settings give equal results.
func Overpaid(m mechanisms.Config, c operators.Operator) []Move {
	if max(m.Contribution.Entries(), m.Dimension()) > mostCoordinates {
		return nil
	}
	a, err := newSubject(m, c, [32]byte{}, AllComponents)
	if err != nil || a.drawing() {
		return nil
	}
	a, err = a.deployed() // the deployed machine may be much faster, and its first contribution is known
	if err != nil || a.earliest() > m.Scope.End() || a.earliest()-1 > mostPreceding/m.Batch {
		return nil
	}
	moves, err := a.largestMoves()
	if err != nil {
		return nil
	}
	var overpaid []Move
	for i, move := range moves {
		if !move.reaches() && !a.marked(i) {
			overpaid = append(overpaid, move)
		}
	}
	return overpaid
}

// marked reports whether a component has columns of marks, which a prediction band adds. Such a component is never
// overpaid: two events with different marks attain its sensitivity exactly. At the start of a stream there may be no
// such events. For example, the first set of labels of a band contains both classes.
func (a *Subject) marked(i int) bool {
	_, marks := a.mechanism.Contribution.Components[i].Quantiser.(contribution.Marks)
	return marks
}

// reaches reports whether the noise covers little more than the move.
func (m Move) reaches() bool { return m.Distance >= leastShare*m.Sensitivity }

// largestMoves returns the largest move of each component that canaries cause. It tries one direction after another
// until all moves reach their sensitivities.
func (a *Subject) largestMoves() ([]Move, error) {
	p, err := a.open()
	if err != nil {
		return nil, err
	}
	moves := make([]Move, len(a.components))
	for i := range moves {
		moves[i] = a.move(i, 0)
	}
	seen := false
	for k := range 2 * directions {
		u := a.dense(a.random("direction", uint64(k)))
		if k >= directions {
			u = a.axis((k - directions) % a.numbers())
		}
		if slices.ContainsFunc(u, math.IsNaN) {
			continue
		}
		both, err := p.contributions(u)
		if err != nil {
			return nil, err
		}
		for i := range moves {
			moves[i].Distance = max(moves[i].Distance, a.diameter(i, both))
		}
		if seen = seen || len(both) > 1; seen && !slices.ContainsFunc(moves, func(m Move) bool { return !m.reaches() }) {
			return moves, nil
		}
	}
	if !seen {
		return nil, errUnseen
	}
	return moves, nil
}

// contributions returns the possible contributions of an event at the first step that can have one, after the same
// history: zero, the contribution of the null event, and the contributions of a pair of canaries along u. If
// neighbouring streams differ by the null event, the canaries are along u and −u.
func (p *player) contributions(u []float64) ([][]float64, error) {
	opposite := slices.Clone(u)
	for i := range opposite {
		opposite[i] = -u[i]
	}
	all := [][]float64{make([]float64, len(p.contribution))}
	for _, canary := range []bool{true, false} {
		along := u
		if !canary && p.subject.mechanism.Unit.AgainstNull() {
			along, canary = opposite, true
		}
		_, adds, err := p.contributionAt(p.subject.earliest(), along, math.MaxUint64, canary)
		if err != nil {
			return nil, err
		}
		if adds {
			all = append(all, slices.Clone(p.contribution))
		}
	}
	return all, nil
}

// diameter returns the largest distance by which an exchange moves a component: between any two of the contributions
// or, if neighbouring streams differ by the null event, between the null event's contribution and any other.
func (a *Subject) diameter(i int, contributions [][]float64) float64 {
	most := 0.0
	for n, x := range contributions {
		others := contributions[:n]
		if a.mechanism.Unit.AgainstNull() {
			others = contributions[:1]
		}
		for _, y := range others {
			most = max(most, a.distance(i, x, y))
		}
	}
	return most
}

// distance returns the distance of two contributions in a component, in scaled coordinates and loss units.
func (a *Subject) distance(i int, x, y []float64) float64 {
	of, squares := a.components[i], 0.0
	for j := of.From; j < of.To; j++ {
		d := (x[j] - y[j]) / a.integers[j]
		squares += d * d
	}
	return math.Sqrt(squares) * of.Grid.Unit()
}

// move returns the Move with this distance and the component's sensitivity.
func (a *Subject) move(i int, distance float64) Move {
	c, p := a.mechanism, a.calibration
	c.Contribution.Components, p.Grid = c.Contribution.Components[i:i+1], a.components[i].Grid
	return Move{Name: c.Contribution.Components[0].Name, Distance: distance, Sensitivity: p.Sensitivity(c)}
}
