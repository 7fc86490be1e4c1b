package coco

import (
	"errors"
	"math"

	"oriel/operators"
)

// The fields of a state are: the update (x, or the state of the local oracle); means of sums, n floats, if the plan has
// them; the fields of the band, if there is one; and S, n floats, under OwnConvexity.
const stateVersion = 1

// defineState lists the fields of the state of a machine that build has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{m.update}
	if m.means != nil {
		m.Fields = append(m.Fields, m.means.Field())
	}
	if m.band != nil {
		m.Fields = append(m.Fields, m.band.fields()...)
	}
	played := m.objective.decisions
	if played == nil {
		return
	}
	m.Fields = append(m.Fields, operators.Floats(played, func() error {
		for _, s := range played {
			if !(math.Abs(s) <= math.MaxFloat64) {
				return errors.New("sum of decisions not finite")
			}
		}
		return nil
	}))
}
