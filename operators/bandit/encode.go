package bandit

import (
	"errors"
	"math"

	"oriel/mechanisms/lattice"
	"oriel/operators"
	"oriel/operators/actions"
)

// The fields of a state are the seed of directions, 16 bytes, the centre, and the table. With Doubling two vectors
// follow the centre: the start of the episode, and the last release before the episode. The
// fields of the baseline come last: its sums, the last release, and the sum of directions in the open step.
const stateVersion = 1

// defineState lists the fields of the state of a machine that New has made.
func (m *Machine) defineState() {
	inside := float64(m.config.Set.MaxNorm() * (1 + 1e-9))
	vector := func(v []float64, most float64) operators.Field {
		return operators.Floats(v, func() error {
			if !(lattice.Norm(v) <= most) {
				return errors.New("a centre outside the set, or a release that is no number")
			}
			return nil
		})
	}
	m.Version, m.Fields = stateVersion, []operators.Field{&m.u, vector(m.mirror.centre, inside)}
	if m.config.Doubling {
		m.Fields = append(m.Fields, vector(m.mirror.start, inside), vector(m.episodeStart.before, math.MaxFloat64))
	}
	b := m.baseline
	for _, numbers := range [][]float64{b.sums, b.last, b.along} {
		m.Fields = append(m.Fields, operators.Floats(numbers, b.check))
	}
	m.Fields = append(m.Fields, m.table)
	m.Check = func() error { return actions.Check(m.table, m.Stream) }
}

func (d *directions) StateLen() int { return seedLen }

func (d *directions) AppendState(dst []byte) []byte { return append(dst, d.seed[:]...) }

func (d *directions) Restore(state []byte) error {
	d.use([seedLen]byte(state))
	return nil
}
