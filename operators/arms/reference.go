package arms

import (
	"oriel/operators"
	"oriel/operators/actions"
)

// reference implements operators.ReferenceModel for arms.
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

// Canary returns two answers to the first action of the newest round that still has unused actions. Their losses lie
// beyond the range, to which they are clamped.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	return actions.Opposite(t.Open(), t.Losses, u[0], factor)
}

func (t *reference) Tangent([]float64) {}
