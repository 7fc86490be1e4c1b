package arms

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/operators"
)

// State, fixed width for a configuration, little-endian:
//
//	version u8 ‖ rule ‖ of each round that the table knows of its arm u32 and chance f64 ‖ table ‖ stream
const stateVersion = 1

const roundLen = 4 + 8

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int {
	return 1 + m.rule.stateLen() + roundLen*len(m.rounds) + m.table.StateLen() + m.stream.StateLen()
}

// AppendState appends the state, also inside a step.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = m.rule.appendState(append(dst, stateVersion))
	for _, p := range m.rounds {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.arm))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.chance))
	}
	return m.stream.AppendState(m.table.AppendState(dst))
}

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if err := operators.CheckState("arms", m, state, stateVersion); err != nil {
		return err
	}
	return operators.RestoreParts("arms", m, state, m.restore)
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
			arm:    int(binary.LittleEndian.Uint32(open[roundLen*i:])),
			chance: math.Float64frombits(binary.LittleEndian.Uint64(open[roundLen*i+4:])),
		}
		if p.arm >= len(m.config.Arms) || !(p.chance >= 0 && p.chance <= 1) {
			return errors.New("arms: state: an arm that there is not, or a chance that is none")
		}
		m.rounds[i] = p
	}
	if err := m.rule.restore(learned); err != nil {
		return err
	}
	return m.table.RestoreWith(m.stream, state)
}
