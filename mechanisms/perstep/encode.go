package perstep

import (
	"encoding/binary"
	"fmt"
)

// stateLen is the length of a state, which is the step, u64, little-endian.
const stateLen = 8

// Counter is the state of a sum that keeps only the number of its last step. It depends on no event.
type Counter struct{ steps uint64 }

// Next counts a step, and returns its number.
func (c *Counter) Next() uint64 {
	c.steps++
	return c.steps
}

// Steps returns the number of the last step, 0 before the first.
func (c *Counter) Steps() uint64 { return c.steps }

// StateLen returns the length of every state.
func (c *Counter) StateLen() int { return stateLen }

// AppendState appends the state.
func (c *Counter) AppendState(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(dst, c.steps)
}

// Restore restores a state that AppendState wrote. It refuses any other length, and leaves the counter unchanged.
func (c *Counter) Restore(state []byte) error {
	if len(state) != stateLen {
		return fmt.Errorf("perstep: state: %d bytes, want %d", len(state), stateLen)
	}
	c.steps = binary.LittleEndian.Uint64(state)
	return nil
}
