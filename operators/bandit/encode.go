package bandit

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// State, fixed width for a configuration, little-endian:
//
//	version u8 ‖ seed 16 ‖ centre, n floats ‖ table ‖ stream
//
// With Doubling the centre is three vectors: the centre, where the episode started, and the release before it.
const stateVersion = 1

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int {
	return 1 + seedLen + 8*len(m.start)*len(m.vectors()) + m.table.StateLen() + m.stream.StateLen()
}

// vectors are those of the state.
func (m *Machine) vectors() [][]float64 {
	all := [...][]float64{m.mirror.centre, m.mirror.start, m.begun.before}
	if !m.config.Doubling {
		return all[:1]
	}
	return all[:]
}

// AppendState appends the state, also inside a step.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = append(append(dst, stateVersion), m.u.seed[:]...)
	for _, v := range m.vectors() {
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		}
	}
	return m.stream.AppendState(m.table.AppendState(dst))
}

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if err := operators.CheckState("bandit", m, state, stateVersion); err != nil {
		return err
	}
	return operators.RestoreParts("bandit", m, state, m.restore)
}

// restore stops at the first part that is refused.
func (m *Machine) restore(state []byte) error {
	seed, rest := [seedLen]byte(state[1:]), state[1+seedLen:]
	for i, v := range m.vectors() {
		for k := range v {
			v[k] = math.Float64frombits(binary.LittleEndian.Uint64(rest[8*k:]))
		}
		rest = rest[8*len(v):]
		most := float64(m.config.Set.MaxNorm() * (1 + 1e-9))
		if i == 2 {
			most = math.MaxFloat64 // a release may be anywhere
		}
		if !(lattice.Norm(v) <= most) {
			return errors.New("bandit: state: a centre outside the set, or a release that is no number")
		}
	}
	if err := m.table.RestoreWith(m.stream, rest); err != nil {
		return err
	}
	m.u.use(seed)
	return nil
}
