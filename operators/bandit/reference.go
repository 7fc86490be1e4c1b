package bandit

import (
	"math"
	"slices"

	"oriel/operators"
	"oriel/operators/actions"
)

// reference is the operators.ReferenceModel of a machine: it finds each play's direction from the others of its round.
type reference struct {
	Config
	*actions.History

	plan   Params
	points map[uint64][]float64 // directions of plays
}

func (t *reference) Begin() {
	t.History, t.points = actions.NewHistory(t.Actions), map[uint64][]float64{}
}

func (t *reference) Observe(decisions []operators.Decision) {
	t.History.Observe(decisions)
	for _, d := range decisions {
		e, _ := t.episodeOf(d.Step + 1)
		t.points[d.Index] = slices.Clone(d.Point)
		for i, x := range d.Extras[0].Numbers {
			t.points[d.Index][i] = (t.points[d.Index][i] - x) / t.plan.Episodes[e].Smoothing
		}
	}
}

// Contribution takes the direction of a play from what was published of it.
func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	adds := t.Next(r.Key, t.mapped(actions.Number(r)))
	if !adds.Usable() {
		return false
	}
	n, middle := len(dst)/2, 1-float64(2*t.Baseline)
	for i, u := range t.points[adds.Action] {
		dst[i], dst[n+i] = float64((adds.Value+middle)*u), float64(middle*u)
	}
	return true
}

// Canary is of a play along the coordinate that u is, or where plays go in directions of their own of the first one
// that is open.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	if !t.axes {
		return actions.Opposite(t.Open(), t.Losses, 1, factor)
	}
	n := uint64(t.Set.Dimension())
	axis := slices.IndexFunc(u[:n], func(x float64) bool { return x != 0 })
	step, place := t.Place()
	play := t.Actions.First(step) + place*n + uint64(axis)
	return actions.Opposite(play, t.Losses, u[axis], factor)
}

// Tangent leaves the largest coordinate: an audit's plays go along these (Config.axes).
func (t *reference) Tangent(u []float64) {
	if !t.axes {
		return
	}
	largest := 0
	for i, x := range u[:t.Set.Dimension()] {
		if math.Abs(x) > math.Abs(u[largest]) {
			largest = i
		}
	}
	for i := range u {
		if i != largest {
			u[i] = 0
		}
	}
}
