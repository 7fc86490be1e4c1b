package sets

import (
	"encoding/binary"
	"errors"

	"oriel/operators"
)

// State, fixed width for a configuration, little-endian:
//
//	version u8 ‖ rule ‖ of each round that the table knows of its cell i32 and stage u32 ‖ table ‖ stream
const stateVersion = 1

const roundLen = 4 + 4

// errState refuses what no machine has written.
var errState = errors.New("sets: state: what is known of sets is not possible")

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int {
	return 1 + m.rule.stateLen() + roundLen*len(m.rounds) + m.table.StateLen() + m.stream.StateLen()
}

// AppendState appends the state, also inside a step.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = m.rule.appendState(append(dst, stateVersion))
	for _, p := range m.rounds {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.cell))
		dst = binary.LittleEndian.AppendUint32(dst, p.stage)
	}
	return m.stream.AppendState(m.table.AppendState(dst))
}

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if err := operators.CheckState("sets", m, state, stateVersion); err != nil {
		return err
	}
	return operators.RestoreParts("sets", m, state, m.restore)
}

// restore stops at the first part that is refused.
func (m *Machine) restore(state []byte) error {
	cut := func(n int) (part []byte) {
		part, state = state[:n], state[n:]
		return part
	}
	cut(1)
	learned, open := cut(m.rule.stateLen()), cut(roundLen*len(m.rounds))
	for i := range m.rounds {
		p := played{
			cell:  int32(binary.LittleEndian.Uint32(open[roundLen*i:])),
			stage: binary.LittleEndian.Uint32(open[roundLen*i+4:]),
		}
		if p.cell < -1 || int(p.cell) >= m.config.tries() {
			return errState
		}
		m.rounds[i] = p
	}
	if err := m.rule.restore(learned); err != nil {
		return err
	}
	return m.table.RestoreWith(m.stream, state)
}

// tries is how many cells a round can be of.
func (c Config) tries() int {
	if c.Draws {
		return c.cells()
	}
	return len(c.Elements)
}
