package perstep

import (
	"encoding/binary"
	"fmt"
)

// stateLen is the length of a state, which is the step, u64, little-endian.
const stateLen = 8

// StateLen returns the length of every state.
func (o *PerStep) StateLen() int { return stateLen }

// AppendState appends the state. It depends on no event.
func (o *PerStep) AppendState(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(dst, o.steps)
}

// Restore restores a state that AppendState wrote. It refuses any other length, and leaves the mechanism unchanged.
func (o *PerStep) Restore(state []byte) error {
	if len(state) != stateLen {
		return fmt.Errorf("perstep: state: %d bytes, want %d", len(state), stateLen)
	}
	o.steps = binary.LittleEndian.Uint64(state)
	return nil
}
