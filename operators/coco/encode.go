package coco

import (
	"errors"
	"math"

	"oriel/operators"
)

// The first field of a state is the update: x, or the state of the local oracle. Means of sums, n floats, follow if the
// plan has them, and the fields of the band, if there is one. The last field is S, n floats, under OwnConvexity.
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
