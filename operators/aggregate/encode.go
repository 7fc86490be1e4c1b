package aggregate

import (
	"fmt"
)

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
	if len(state) != m.StateLen() {
		return fmt.Errorf("aggregate: state: %d bytes, this configuration has %d", len(state), m.StateLen())
	}
	if state[0] != stateVersion {
		return fmt.Errorf("aggregate: state: version %d, this software knows %d", state[0], stateVersion)
	}
	before := m.AppendState(nil)
	readings, rest := m.readings, state[1:]
	inner := rest[len(rest)-m.stream.StateLen():]
	err := m.stream.Restore(inner)
	for i := 0; i < len(readings) && err == nil; i++ {
		r, t := readings[i], m.stream.Step()
		empty := t == 0 || r == m.increments && t%m.every == 0
		err = r.Restore(rest[:r.StateLen()], empty)
		rest = rest[r.StateLen():]
	}
	if err != nil {
		m.restoreOwn(before)
	}
	return err
}

// restoreOwn goes back to a state that the machine has just been in.
func (m *Machine) restoreOwn(state []byte) {
	rest := state[1:]
	for _, r := range m.readings {
		if err := r.Restore(rest[:r.StateLen()], false); err != nil {
			panic("BUG: aggregate: own state refused: " + err.Error())
		}
		rest = rest[r.StateLen():]
	}
	if err := m.stream.Restore(rest); err != nil {
		panic("BUG: aggregate: own state refused: " + err.Error())
	}
}
