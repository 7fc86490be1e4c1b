package linucb

import (
	"bytes"
	"encoding/binary"
	"errors"

	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// The fields of a state, little-endian:
//
//	step of the model u64 ‖ doublings before it u64 ‖ the release that it was solved from, floats
//	‖ if actions are served: number of actions in the open step u32; for each action that a step has room for its choice
//	  u32, from 1, 0 for none, length of the key u8, the key, padding of zeros, and the answer kind u8;
//	  then the table
const stateVersion = 1

const actionLen = 4 + 1 + maxName + 1

// defineState lists the fields of the state of a machine that newMachine has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{(*solvedRelease)(m)}
	if m.served {
		m.Fields = append(m.Fields, (*actions)(m), m.table)
	}
	m.Check = m.check
}

// solvedRelease is the state field of the release from which the model was solved.
type solvedRelease Machine

func (s *solvedRelease) StateLen() int { return 8 + 8 + 8*len(s.model.release) }

func (s *solvedRelease) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, s.model.step)
	dst = binary.LittleEndian.AppendUint64(dst, s.model.doublings)
	return operators.Floats(s.model.release, nil).AppendState(dst)
}

func (s *solvedRelease) Restore(state []byte) error {
	step, doublings := binary.LittleEndian.Uint64(state), binary.LittleEndian.Uint64(state[8:])
	release := make([]float64, len(s.model.release))
	if err := operators.Floats(release, nil).Restore(state[16:]); err != nil {
		return err
	}
	last := s.Stream.Step() - s.Stream.Step()%s.every
	if step%s.every != 0 || step > last || step < last && !s.doubling || !finite(release) ||
		step == 0 && (doublings != 0 || lattice.Norm(release) != 0) {
		return errState
	}
	s.model.restore(release, step, doublings)
	(*Machine)(s).note()
	return nil
}

// actions is the state field of the actions of the open step, one for each of its records.
type actions Machine

func (a *actions) StateLen() int { return 4 + int(a.batch)*actionLen }

func (a *actions) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(a.actions)))
	for k, choice := range a.actions {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(choice+1))
		dst = append(append(dst, byte(len(a.keys[k]))), a.keys[k]...)
		dst = append(dst, make([]byte, maxName-len(a.keys[k]))...)
		dst = append(dst, byte(a.answers[k]))
	}
	return append(dst, make([]byte, (int(a.batch)-len(a.actions))*actionLen)...)
}

// AppendShared appends the state without the choices, because each choice also depends on its own context.
func (a *actions) AppendShared(dst []byte) []byte {
	start := len(dst)
	dst = a.AppendState(dst)
	for k := range a.actions {
		clear(dst[start+4+k*actionLen:][:4])
	}
	return dst
}

func (a *actions) Restore(state []byte) error {
	m, count := (*Machine)(a), binary.LittleEndian.Uint32(state)
	if uint64(count) >= m.batch || !m.actionsHold(state[4:], int(count)) {
		return errState
	}
	m.readActions(state)
	return nil
}

// check refuses a state in which a waiting row was stored after the open step.
func (m *Machine) check() error {
	if m.served {
		if newest, some := m.table.Newest(); some && newest > m.Stream.Step()+1 {
			return errState
		}
	}
	return nil
}

var errState = errors.New("malformed")

// actionsHold checks the actions of the open step.
func (m *Machine) actionsHold(b []byte, count int) bool {
	for k := range int(m.batch) {
		one := b[k*actionLen:][:actionLen]
		choice, length := binary.LittleEndian.Uint32(one), int(one[4])
		used := 5 + length
		if k >= count {
			used = 0
			if !allZero(one) {
				return false
			}
		}
		if choice > uint32(m.choices()) || length > maxName || !allZero(one[min(used, actionLen-1):actionLen-1]) {
			return false
		}
		if !consistent(answerKind(one[actionLen-1]), choice, length) {
			return false
		}
	}
	return true
}

// consistent reports whether an action in a state is consistent with the kind of its answer. An answer to a context
// that waits for its reward has a key. All other answers have neither a key nor a choice.
func consistent(to answerKind, choice uint32, length int) bool {
	if to == toContext {
		return length > 0
	}
	return to <= toReward && choice == 0 && length == 0
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func (m *Machine) readActions(b []byte) {
	m.actions = m.actions[:0]
	for k := range int(binary.LittleEndian.Uint32(b)) {
		one := b[4+k*actionLen:]
		m.answer(one[5:5+int(one[4])], int(binary.LittleEndian.Uint32(one))-1, answerKind(one[actionLen-1]))
	}
}

// restore solves the model again from its stored release.
func (m *model) restore(release []float64, step, doublings uint64) {
	m.reset()
	if step == 0 {
		return
	}
	copy(m.release, release)
	m.compute()
	m.step, m.doublings = step, doublings
}
