package ridge

import (
	"errors"

	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// The fields of a state are the weights, d floats, and the number of doublings, u64.
const stateVersion = 1

// defineState lists the fields of the state of a machine that newMachine has made.
func (m *Machine) defineState() {
	limit := float64(m.maxWeights*m.half) / m.features
	longest := float64(limit * (1 + 1e-9))
	m.Version = stateVersion
	m.Fields = []operators.Field{
		operators.Floats(m.point, func() error {
			if !(lattice.Norm(m.point) <= longest) {
				return errors.New("weights longer than they can be")
			}
			return nil
		}),
		operators.Counter(&m.doublings),
	}
	m.Check = func() error {
		if m.Stream.Step() < m.every && (m.doublings != 0 || lattice.Norm(m.point) != 0) {
			return errors.New("weights before there was a decision")
		}
		return nil
	}
}
