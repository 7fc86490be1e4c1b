package subject

import (
	"errors"
	"math"

	"oriel/operators"
)

// ErrUnseen is the error for a canary whose contribution is never added.
var ErrUnseen = errors.New("audit: no event of these settings adds to the sums")

// Contributions returns what a canary along u and its replacement add to a step, relative to their centre, at the start
// of a stream: the sum of all events of a unit that may be in one step. It is the same at every other step.
func (a *Subject) Contributions(u []float64) (with, without []float64, err error) {
	p, err := a.Open()
	if err != nil {
		return nil, nil, err
	}
	events, each := 1, float64(a.Mechanism.Unit.StepEvents()) // equal events
	if a.Mechanism.Unit.Apart() {
		events, each = int(each), 1
	}
	both := [2][]float64{make([]float64, len(p.Contribution)), make([]float64, len(p.Contribution))}
	for i, canary := range []bool{true, false} {
		for number := range events {
			x, adds, err := p.contributionOf(number, a.Earliest(), u, math.MaxUint64, canary)
			if err != nil {
				return nil, nil, err
			}
			if !adds && canary {
				return nil, nil, ErrUnseen
			}
			for j := range x {
				both[i][j] += x[j] * each
			}
		}
	}
	return both[0], both[1], nil
}

// ContributionAt plays a run up to the step that adds its canary's contribution. It returns the contribution relative
// to its centre, and reports whether the canary adds a contribution.
func (p *Player) ContributionAt(
	step uint64, along []float64, run uint64, canary bool,
) (sum []float64, adds bool, err error) {
	return p.contributionOf(0, step, along, run, canary)
}

// contributionOf is ContributionAt for the event of a unit with this number, if events have different values.
func (p *Player) contributionOf(
	number int, step uint64, along []float64, run uint64, canary bool,
) (sum []float64, adds bool, err error) {
	if err := p.Begin(run); err != nil {
		return nil, false, err
	}
	at, s := IdentitiesOf(run), p.Sender(along, func(t uint64) bool { return t == step })
	s.first = number
	adds = p.Until(step, s, &at, canary)
	return Differences(p.Contribution, p.Centre), adds, nil
}

// Until adds records of a sender, to the first of the given step, and reports whether the last one adds a contribution.
// It adds the first event of each pair, or the second.
func (p *Player) Until(step uint64, s *Sender, at *Identities, first bool) (adds bool) {
	for t := uint64(1); ; t++ {
		for place := range int(p.Subject.Places()) {
			c, _ := s.At(t, place)
			r := In(c, first)
			r.Identity = at.Next()
			if adds = p.Add(r); t == step {
				return adds
			}
		}
	}
}

// ContributionsAt returns the results of ContributionAt for a canary and for its replacement. If events do not wait,
// both runs are equal before the canary, so that this part is played once, with a second reference model beside it.
func (p *Player) ContributionsAt(step uint64, along []float64, run uint64) (with, without []float64, err error) {
	a := p.Subject
	if a.Carriers > 1 || a.Lag > 0 {
		if with, _, err = p.ContributionAt(step, along, run, true); err != nil {
			return nil, nil, err
		}
		without, _, err = p.ContributionAt(step, along, run, false)
		return with, without, err
	}
	other, err := operators.ReferenceModelOf(a.Operator, a.Params)
	if err != nil {
		return nil, nil, err
	}
	if err := p.Begin(run); err != nil {
		return nil, nil, err
	}
	other.Begin()
	other.Observe(p.Decisions)
	at := IdentitiesOf(run)
	for range (step - 1) * a.Places() {
		r := operators.Record{Null: true, Identity: at.Next()}
		other.Contribution(p.All, r)
		p.Add(r)
		other.Observe(p.Decisions)
	}
	record, s := at.Next(), p.Sender(along, func(uint64) bool { return true })
	c, _ := s.At(step, 0)
	contribution := func(reference operators.ReferenceModel, r operators.Record) []float64 {
		r.Identity = record
		a.centres(p.Centre, p.All, a.Contribution(p.Contribution, p.All, reference, r))
		return Differences(p.Contribution, p.Centre)
	}
	return contribution(p.Reference, c.Record), contribution(other, c.Neighbour), nil
}
