package arms

import (
	"oriel/operators"
	"oriel/operators/plays"
)

// twin is the operators.Twin of a machine.
type twin struct {
	Config
	*plays.History
}

func (t *twin) Begin() { t.History = plays.NewHistory(t.Plays) }

func (t *twin) Leaf(dst []float64, r operators.Record) bool {
	a := t.Next(r.Key, t.Losses.Centred(plays.Number(r)))
	dst[0] = a.Value
	return a.Says()
}

// Canary is of the first play of the newest round that is not used up. A loss beyond its range is clamped to it, and so
// are these.
func (t *twin) Canary(u []float64, factor float64) (with, without operators.Record) {
	return plays.Opposite(t.Open(), t.Losses, u[0], factor)
}

func (t *twin) Direct([]float64) {}
