package arms

import (
	"oriel/operators"
	"oriel/operators/actions"
)

// reference is the operators.ReferenceModel of a machine.
type reference struct {
	Config
	*actions.History
}

func (t *reference) Begin() { t.History = actions.NewHistory(t.Actions) }

func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	a := t.Next(r.Key, t.Losses.Centred(actions.Number(r)))
	dst[0] = a.Value
	return a.Usable()
}

// Canary is of the first play of the newest round that is not used up. A loss beyond its range is clamped to it, and so
// are these.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	return actions.Opposite(t.Open(), t.Losses, u[0], factor)
}

func (t *reference) Tangent([]float64) {}
