package ridge

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// State, fixed width for a configuration, little-endian:
//
//	version u8 ‖ weights, d floats ‖ doublings u64 ‖ state of the stream
const stateVersion = 1

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int { return 1 + 8*len(m.point) + 8 + m.stream.StateLen() }

// AppendState appends the state, also inside a batch.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = append(dst, stateVersion)
	for _, x := range m.point {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	dst = binary.LittleEndian.AppendUint64(dst, m.doublings)
	return m.stream.AppendState(dst)
}

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if err := operators.CheckState("ridge", m, state, stateVersion); err != nil {
		return err
	}
	point, rest := make([]float64, len(m.point)), state[1:]
	for i := range point {
		point[i] = math.Float64frombits(binary.LittleEndian.Uint64(rest[8*i:]))
	}
	if limit := float64(m.most*m.half) / m.features; !(lattice.Norm(point) <= float64(limit*(1+1e-9))) {
		return errors.New("ridge: state: weights longer than they can be")
	}
	rest = rest[8*len(point):]
	doublings := binary.LittleEndian.Uint64(rest)
	before := m.stream.AppendState(nil)
	if err := m.stream.Restore(rest[8:]); err != nil {
		return err
	}
	if m.stream.Step() < m.every && (doublings != 0 || lattice.Norm(point) != 0) {
		if err := m.stream.Restore(before); err != nil {
			panic("BUG: ridge: own state refused: " + err.Error())
		}
		return errors.New("ridge: state: weights before there was a decision")
	}
	m.doublings = doublings
	copy(m.point, point)
	return nil
}
