package arms

import (
	"oriel/operators"
	"oriel/operators/plays"
)

// reference is the operators.ReferenceModel of a machine.
type reference struct {
	Config
	*plays.History
}

func (t *reference) Begin() { t.History = plays.NewHistory(t.Plays) }

func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	a := t.Next(r.Key, t.Losses.Centred(plays.Number(r)))
	dst[0] = a.Value
	return a.Says()
}

// Canary is of the first play of the newest round that is not used up. A loss beyond its range is clamped to it, and so
// are these.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	return plays.Opposite(t.Open(), t.Losses, u[0], factor)
}

func (t *reference) Tangent([]float64) {}
