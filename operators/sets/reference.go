package sets

import (
	"math"

	"oriel/operators"
	"oriel/operators/actions"
)

// reference implements operators.ReferenceModel for sets. It reads from published decisions which cell an action
// explores.
type reference struct {
	Config
	*actions.History

	cells map[uint64]int // cell that each action explores; −1 if it does not explore
}

func (t *reference) Begin() { t.History, t.cells = actions.NewHistory(t.Actions), map[uint64]int{} }

func (t *reference) Observe(decisions []operators.Decision) {
	t.History.Observe(decisions)
	_, _, explores := members()
	for _, d := range decisions {
		t.cells[d.Index] = -1
		if explores.Of(d.Extras) == 0 {
			continue
		}
		for i, element := range d.Point {
			if element >= 0 {
				t.cells[d.Index] = i*len(t.Elements) + int(element)
			}
		}
	}
}

func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	a := t.Next(r.Key, t.Value.Centred(actions.Number(r)))
	if !t.Draws {
		dst[0] = a.Value
		return a.Usable()
	}
	if !a.Usable() || t.cells[a.Action] < 0 {
		return false
	}
	dst[0], dst[1] = float64(t.cells[a.Action]), a.Value
	return true
}

// Canary returns two answers to the first action of the newest round that still has unused actions. Their rewards lie
// beyond the range, to which they are clamped.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	sign := 1.0
	for _, x := range u {
		if math.Abs(x) > 0 {
			sign = math.Copysign(1, x)
			break
		}
	}
	return actions.Opposite(t.Open(), t.Value, sign, factor)
}

func (t *reference) Tangent([]float64) {}
