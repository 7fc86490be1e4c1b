package coco

import (
	"errors"
	"math"

	"oriel/operators"
)

// State, fixed width for a configuration, floats little-endian:
//
//	version u8 ‖ update (x, or what the local oracle keeps) ‖ S, n floats, if OwnConvexity ‖ state of the stream
const stateVersion = 1

// StateLen is the length of every state of this machine.
func (m *Machine) StateLen() int {
	return 1 + m.update.stateLen() + 8*len(m.objective.plays) + m.stream.StateLen()
}

// AppendState appends the state, also inside a batch.
func (m *Machine) AppendState(dst []byte) []byte {
	dst = append(dst, stateVersion)
	dst = m.update.appendState(dst)
	dst = appendFloats(dst, m.objective.plays)
	return m.stream.AppendState(dst)
}

// Restore reads what AppendState of the same configuration has written.
func (m *Machine) Restore(state []byte) error {
	if err := operators.CheckState("coco", m, state, stateVersion); err != nil {
		return err
	}
	rest := state[1:]
	update, rest := rest[:m.update.stateLen()], rest[m.update.stateLen():]
	sum, stream := rest[:8*len(m.objective.plays)], rest[8*len(m.objective.plays):]

	plays := make([]float64, len(m.objective.plays))
	readFloats(plays, sum)
	for _, s := range plays {
		if !(math.Abs(s) <= math.MaxFloat64) {
			return errors.New("coco: state: sum of decisions not finite")
		}
	}
	before := m.update.appendState(nil)
	if err := m.update.restore(update); err != nil {
		return err
	}
	if err := m.stream.Restore(stream); err != nil {
		if undo := m.update.restore(before); undo != nil {
			panic("BUG: coco: own state refused: " + undo.Error())
		}
		return err
	}
	copy(m.objective.plays, plays)
	return nil
}
