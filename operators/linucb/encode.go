package linucb

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// State, fixed width for a configuration, little-endian:
//
//	version u8 ‖ step of the model u64 ‖ doublings before it u64 ‖ the release that it was solved from, floats
//	‖ where actions are served: actions of the open step u32, of each that a step has room for its choice u32, from 1,
//	  0 for none, length of the key u8, the key, zeros behind it, and in version 2 what it answers u8; then the table
//	‖ stream
const (
	stateVersion = 1
	stateOfMarks = 2 // where actions say what they answer
)

const modelLen = 1 + 8 + 8

const actionLen = 4 + 1 + maxName

// stateVersion is that of the machine's states.
func (c configured) stateVersion() byte {
	if c.served && !c.unmarked {
		return stateOfMarks
	}
	return stateVersion
}

// actionLen is the length of an action in a state.
func (c configured) actionLen() int {
	if c.unmarked {
		return actionLen
	}
	return actionLen + 1
}

// servedLen is the length of what is there where actions are served.
func (c configured) servedLen() int {
	if !c.served {
		return 0
	}
	return 4 + int(c.batch)*c.actionLen() + c.waiting.StateLen()
}

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int {
	return modelLen + 8*len(m.model.release) + m.servedLen() + m.stream.StateLen()
}

// AppendState appends the state, also inside a batch.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = append(dst, m.stateVersion())
	dst = binary.LittleEndian.AppendUint64(dst, m.model.step)
	dst = binary.LittleEndian.AppendUint64(dst, m.model.doublings)
	for _, x := range m.model.release {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	if m.served {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(m.actions)))
		for k, choice := range m.actions {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(choice+1))
			dst = append(append(dst, byte(len(m.keys[k]))), m.keys[k]...)
			dst = append(dst, make([]byte, maxName-len(m.keys[k]))...)
			if !m.unmarked {
				dst = append(dst, byte(m.answers[k]))
			}
		}
		dst = append(dst, make([]byte, (int(m.batch)-len(m.actions))*m.actionLen())...)
		dst = m.table.AppendState(dst)
	}
	return m.stream.AppendState(dst)
}

var errState = errors.New("linucb: state: malformed")

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if err := operators.CheckState("linucb", m, state, m.stateVersion()); err != nil {
		return err
	}
	step, doublings := binary.LittleEndian.Uint64(state[1:]), binary.LittleEndian.Uint64(state[9:])
	release := make([]float64, len(m.model.release))
	for i := range release {
		release[i] = math.Float64frombits(binary.LittleEndian.Uint64(state[modelLen+8*i:]))
	}
	rest := state[modelLen+8*len(release):]
	if step%m.every != 0 || step == 0 && (doublings != 0 || lattice.Norm(release) != 0) || !finite(release) {
		return errState
	}
	own, inner := rest[:m.servedLen()], rest[m.servedLen():]
	stream := m.stream.AppendState(nil)
	if err := m.stream.Restore(inner); err != nil {
		return err
	}
	last, err := m.stream.Step()-m.stream.Step()%m.every, error(nil)
	if step > last || step < last && !m.rarely {
		err = errState
	} else if m.served {
		err = m.restoreServed(own)
	}
	if err != nil {
		undo(m.stream, stream)
		return err
	}
	m.model.restore(release, step, doublings)
	m.note()
	return nil
}

// undo puts back what was there before a state was refused.
func undo(of interface{ Restore(state []byte) error }, before []byte) {
	if err := of.Restore(before); err != nil {
		panic("BUG: linucb: own state refused: " + err.Error())
	}
}

// restoreServed reads the actions and the table, AFTER the stream: each record of the open step has an action, and no
// row was put in a later step. After an error both are as they were.
func (m *Machine) restoreServed(own []byte) error {
	count, actions := binary.LittleEndian.Uint32(own), own[4:][:int(m.batch)*m.actionLen()]
	table := own[4+len(actions):]
	if uint64(count) != uint64(m.stream.Place()) || !m.actionsHold(actions, int(count)) {
		return errState
	}
	before := m.table.AppendState(nil)
	if err := m.table.Restore(table); err != nil {
		return err
	}
	if newest, some := m.table.Newest(); some && newest > m.stream.Step()+1 {
		undo(m.table, before)
		return errState
	}
	m.readActions(own)
	return nil
}

// actionsHold checks those of the open step.
func (m *Machine) actionsHold(b []byte, count int) bool {
	for k := range int(m.batch) {
		one := b[k*m.actionLen():][:m.actionLen()]
		choice, length := binary.LittleEndian.Uint32(one), int(one[4])
		used := 5 + length
		if k >= count {
			used = 0
			if !allZero(one) {
				return false
			}
		}
		if choice > uint32(m.choices()) || length > maxName || !allZero(one[min(used, actionLen):actionLen]) {
			return false
		}
		if !m.unmarked && !marked(mark(one[actionLen]), choice, length) {
			return false
		}
	}
	return true
}

// marked reports whether an action in a state can be an answer to that: contexts that wait have a key, and nothing else
// has a key or a choice.
func marked(to mark, choice uint32, length int) bool {
	if to == toContext {
		return length > 0
	}
	return to <= toReward && choice == 0 && length == 0
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

func (m *Machine) readActions(b []byte) {
	m.actions = m.actions[:0]
	for k := range int(binary.LittleEndian.Uint32(b)) {
		one, to := b[4+k*m.actionLen():], toNothing
		if !m.unmarked {
			to = mark(one[actionLen])
		}
		m.answer(one[5:5+int(one[4])], int(binary.LittleEndian.Uint32(one))-1, to)
	}
}

// restore solves again from the release.
func (m *model) restore(release []float64, step, doublings uint64) {
	m.reset()
	if step == 0 {
		return
	}
	copy(m.release, release)
	m.compute()
	m.step, m.doublings = step, doublings
}
