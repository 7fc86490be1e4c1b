package bandit

import (
	"math"
	"slices"

	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/convex"
)

// reference implements operators.ReferenceModel for bandit. It does not draw directions, but computes an action's
// direction from the published points of its round.
type reference struct {
	Config
	*actions.History

	params  Params
	members *members
	points  map[uint64][]float64 // direction of each action
	beta    float64              // baseline in the last decision, on the scale of mapped losses
	along   [][]float64          // directions in turn, if an audit plays them
}

func newReference(c Config, declared *members, p Params) (*reference, error) {
	r := &reference{Config: c, members: declared, params: p}
	if !c.axes {
		return r, nil
	}
	tangent, err := convex.NewTangent(c.Set)
	r.along = coordinates(true, c.Set.Dimension(), tangent)
	return r, err
}

func (t *reference) Begin() {
	t.History, t.points = actions.NewHistory(t.Actions), map[uint64][]float64{}
	t.beta = float64(2*t.Baseline) - 1
}

func (t *reference) Observe(decisions []operators.Decision) {
	t.History.Observe(decisions)
	for _, d := range decisions {
		e, _ := t.episodeOf(d.Step + 1)
		u := slices.Clone(t.members.centre.Of(d.Extras))
		episode := t.params.Episodes[e]
		episode.surrounded(u, t.geometry().centre, u)
		for i, x := range u {
			u[i] = (d.Point[i] - x) / episode.Smoothing
		}
		t.points[d.Index] = u
		t.beta = float64(2 * t.Losses.Centred(t.members.baseline.Of(d.Extras)))
	}
}

// Contribution uses the direction that the published points give for the action.
func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	adds := t.Next(r.Key, t.mapped(actions.Number(r)))
	if !adds.Usable() {
		return false
	}
	n := len(dst) / 2
	for i, u := range t.points[adds.Action] {
		dst[i], dst[n+i] = float64((adds.Value-t.beta)*u), -float64(t.beta*u)
	}
	return true
}

// Canary returns two answers to the open action along the direction u. If directions are random, it answers the first
// open action.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	if !t.axes {
		return actions.Opposite(t.Open(), t.Losses, 1, factor)
	}
	n := uint64(t.Set.Dimension())
	axis, sign := t.nearest(u[:n])
	step, place := t.Place()
	play := t.Actions.First(step) + place*n + uint64(axis)
	return actions.Opposite(play, t.Losses, sign, factor)
}

// Tangent replaces u by its component along the closest of the directions that an audit plays in turn (Config.axes).
func (t *reference) Tangent(u []float64) {
	if !t.axes {
		return
	}
	n := t.Set.Dimension()
	axis, sign := t.nearest(u[:n])
	clear(u[n:])
	for i, x := range t.along[axis] {
		u[i] = float64(sign * x)
	}
}

// nearest returns the axis among the directions in turn that is closest to the line of u, and its sign: 1 if u points
// along it and −1 if against it.
func (t *reference) nearest(u []float64) (axis int, sign float64) {
	most := -1.0
	for k, v := range t.along {
		along := 0.0
		for i, x := range v {
			along += float64(x * u[i])
		}
		if math.Abs(along) > most {
			axis, most, sign = k, math.Abs(along), math.Copysign(1, along)
		}
	}
	return axis, sign
}
