package submodular

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"oriel/operators"
)

// State, fixed width for a configuration, little-endian:
//
//	version u8 ‖ the newest set, k elements u32, ‖ of shares the newest points, K·N f64 ‖ state of the stream
const stateVersion = 1

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int { return m.head() + m.stream.StateLen() }

// head is what stands before the stream.
func (m *Machine) head() int { return 1 + 4*m.pick + 8*len(m.points()) }

// points are those of shares, which are public; else there are none.
func (m *Machine) points() []float64 {
	if s, ok := m.rule.(*shares); ok {
		return s.points
	}
	return nil
}

// AppendState appends the state, also inside a batch.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = append(dst, stateVersion)
	for _, element := range m.set {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(element))
	}
	for _, x := range m.points() {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return m.stream.AppendState(dst)
}

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if err := operators.CheckState("submodular", m, state, stateVersion); err != nil {
		return err
	}
	set := make([]int, m.pick)
	for i := range set {
		set[i] = int(binary.LittleEndian.Uint32(state[1+4*i:]))
		if set[i] >= m.elements || !m.repeats() && slices.Contains(set[:i], set[i]) {
			return errors.New("submodular: state: not a set of elements")
		}
	}
	points := make([]float64, len(m.points()))
	for i := range points {
		points[i] = math.Float64frombits(binary.LittleEndian.Uint64(state[1+4*m.pick+8*i:]))
		if !(points[i] >= 0 && points[i] <= 1) {
			return errors.New("submodular: state: not points of the set")
		}
	}
	if err := m.stream.Restore(state[m.head():]); err != nil {
		return err
	}
	copy(m.set, set)
	copy(m.points(), points)
	return nil
}
