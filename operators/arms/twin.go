package arms

import (
	"strconv"

	"oriel/operators"
	"oriel/operators/plays"
	"oriel/schemas"
)

// twin is the operators.Twin of a machine.
type twin struct {
	Config
	*plays.History
}

func (t *twin) Begin() { t.History = plays.NewHistory(t.Plays) }

func (t *twin) Leaf(dst []float64, r operators.Record) bool {
	a := t.Next(r.Key, t.mapped(r))
	dst[0] = a.Value
	return a.Says()
}

// Canary is of the first play of the newest round that is not used up. A loss beyond its range is clamped to it, and so
// are these.
func (t *twin) Canary(u []float64, factor float64) (with, without operators.Record) {
	play, losses := t.Open(), plays.Range{Low: t.Low, High: t.High}
	record := func(sign float64) operators.Record {
		return operators.Record{
			Key:   strconv.AppendUint(nil, play, 10),
			Event: schemas.Event{Numbers: []float64{losses.Beyond(u[0], sign, factor)}},
		}
	}
	return record(1), record(-1)
}

func (t *twin) Direct([]float64) {}
