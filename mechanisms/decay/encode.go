package decay

import (
	"fmt"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
)

// StateLen returns the length of every state of this sum.
func (c *Sum) StateLen() int { return buffer.StateLen(len(c.sums), int(c.filter.Count)) }

// AppendState appends the state in the format of package buffer, with Ŝ in fixed point as its sums. Its buffers hold
// past noise, which together with the releases gives the decayed sums of the data since the last reset. So the state is
// private and must only ever be stored sealed.
func (c *Sum) AppendState(dst []byte) []byte {
	return buffer.AppendState(dst, c.steps, c.sums, c.row)
}

// row returns the buffers of coordinate i, one per pole.
func (c *Sum) row(i int) []lattice.Int128 { return c.buffers[i][:c.filter.Count] }

// Restore restores a state that AppendState wrote. It refuses, and leaves the sum unchanged, if the length is wrong, a
// sum or a buffer exceeds its limit, anything before the first step is not zero, or a buffer right after a reset is not
// zero.
func (c *Sum) Restore(state []byte) error {
	s, err := buffer.ParseState(state, len(c.sums), int(c.filter.Count))
	if err == nil {
		err = s.Check(c.sumLimit, c.limit[:], c.period)
	}
	if err != nil {
		return fmt.Errorf("decay: %w", err)
	}
	c.steps = s.Steps()
	s.Write(c.sums, c.row)
	clear(c.increments)
	return nil
}
