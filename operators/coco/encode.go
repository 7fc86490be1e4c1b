package coco

import (
	"errors"
	"math"

	"oriel/operators"
)

// The fields of a state are the update (x, or what the local oracle keeps); means of sums, n floats, if the plan has
// them; of a band over sums that decay, misses since the last fold and before it; and, if OwnConvexity, S, n floats.
const stateVersion = 1

// defineState makes the state of what build has made.
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
