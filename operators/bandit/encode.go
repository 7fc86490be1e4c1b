package bandit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/lattice"
)

// State, fixed width for a configuration, little-endian:
//
//	version u8 ‖ seed 16 ‖ centre, n floats ‖ table ‖ stream
const stateVersion = 1

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int {
	return 1 + seedLen + 8*len(m.centre) + m.table.StateLen() + m.stream.StateLen()
}

// AppendState appends the state, also inside a step.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = append(append(dst, stateVersion), m.u.seed[:]...)
	for _, x := range m.centre {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return m.stream.AppendState(m.table.AppendState(dst))
}

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if len(state) != m.StateLen() {
		return fmt.Errorf("bandit: state: %d bytes, this configuration has %d", len(state), m.StateLen())
	}
	if state[0] != stateVersion {
		return fmt.Errorf("bandit: state: version %d, this software knows %d", state[0], stateVersion)
	}
	seed, rest := [seedLen]byte(state[1:]), state[1+seedLen:]
	centre := make([]float64, len(m.centre))
	for i := range centre {
		centre[i] = math.Float64frombits(binary.LittleEndian.Uint64(rest[8*i:]))
	}
	if !(lattice.Norm(centre) <= float64(m.config.Set.MaxNorm()*(1+1e-9))) {
		return errors.New("bandit: state: a centre outside the set")
	}
	rest = rest[8*len(centre):]
	split := m.table.StateLen()
	table, stream := m.table.AppendState(nil), m.stream.AppendState(nil)
	if err := m.restore(rest[:split], rest[split:]); err != nil {
		if undo := m.restore(table, stream); undo != nil {
			panic("BUG: bandit: own state refused: " + undo.Error())
		}
		return err
	}
	m.u.use(seed)
	m.centre = centre
	return nil
}

// restore stops at the first part that is refused.
func (m *Machine) restore(table, stream []byte) error {
	if err := m.table.Restore(table); err != nil {
		return err
	}
	if err := m.stream.Restore(stream); err != nil {
		return err
	}
	if m.stream.Step()+1 != m.table.Step() {
		return errors.New("bandit: state: plays and releases are of different steps")
	}
	return nil
}
