package aggregate

import "oriel/operators"

// State, fixed width for a configuration:
//
//	version u8 ‖ sums of the views that are not the stream's own, and of the increments since the last decision ‖ state of the stream
const stateVersion = 1

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int {
	n := 1 + m.stream.StateLen()
	for _, r := range m.readings {
		n += r.StateLen()
	}
	return n
}

// AppendState appends the state, also inside a batch.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = append(dst, stateVersion)
	for _, r := range m.readings {
		dst = r.AppendState(dst)
	}
	return m.stream.AppendState(dst)
}

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if err := operators.CheckState("aggregate", m, state, stateVersion); err != nil {
		return err
	}
	return operators.RestoreParts("aggregate", m, state, m.restore)
}

// restore stops at the first part that is refused: the stream, then what is read of it.
func (m *Machine) restore(state []byte) error {
	rest := state[1:]
	if err := m.stream.Restore(rest[len(rest)-m.stream.StateLen():]); err != nil {
		return err
	}
	for _, r := range m.readings {
		t := m.stream.Step()
		empty := t == 0 || r == m.increments && t%m.every == 0
		if err := r.Restore(rest[:r.StateLen()], empty); err != nil {
			return err
		}
		rest = rest[r.StateLen():]
	}
	return nil
}
