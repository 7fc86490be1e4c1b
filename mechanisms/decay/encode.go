package decay

import (
	"errors"
	"fmt"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
)

// StateLen returns the length of every state of this sum.
func (c *Sum) StateLen() int { return buffer.StateLen(len(c.sums), int(c.filter.Count)) }

// AppendState appends the state in the form of package buffer; its sums are Ŝ with fraction bits. Its buffers hold past
// noise, which together with the releases gives the decayed sums of the data since the last reset. So the state is
// private and must only ever be stored sealed.
func (c *Sum) AppendState(dst []byte) []byte {
	row := func(i int) []lattice.Int128 { return c.buffers[i][:c.filter.Count] }
	return buffer.AppendState(dst, c.steps, c.sums, row)
}

// Restore restores a state that AppendState wrote. It refuses, and leaves the sum unchanged, if the length is wrong, a
// sum or a buffer exceeds its limit, anything before the first step is not zero, or a buffer right after a reset is not
// zero.
func (c *Sum) Restore(state []byte) error {
	m := int(c.filter.Count)
	s, err := buffer.ParseState(state, len(c.sums), m)
	if err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	steps := s.Steps()
	for i := range c.sums {
		switch x := s.Sum(i); {
		case steps == 0 && x != lattice.Int128{}:
			return errors.New("forget: state: not zero before the first step")
		case !buffer.Within(x, c.sumLimit):
			return errors.New("forget: state: sum is beyond its limit")
		}
		for k := range m {
			switch x := s.Buffer(i, k); {
			case steps%c.period == 0 && x != lattice.Int128{}:
				return errors.New("forget: state: buffer is not zero after a reset")
			case !buffer.Within(x, c.limit[k]):
				return errors.New("forget: state: buffer is beyond its limit")
			}
		}
	}
	c.steps = steps
	clear(c.increments)
	for i := range c.sums {
		c.sums[i] = s.Sum(i)
		for k := range m {
			c.buffers[i][k] = s.Buffer(i, k)
		}
	}
	return nil
}
