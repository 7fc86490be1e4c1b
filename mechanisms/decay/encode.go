package decay

import (
	"errors"
	"fmt"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
)

// StateLen returns the length of every state of this sum.
func (c *Sum) StateLen() int { return buffer.StateLen(len(c.sums), int(c.filter.Count)) }

// AppendState appends the state: package buffer says its form, the sums are Ŝ with its fraction bits. It holds past
// noise in its buffers, which with the releases gives decayed sums of the data since the last reset: it is private, and
// is only ever sealed.
func (c *Sum) AppendState(dst []byte) []byte {
	row := func(i int) []lattice.Int128 { return c.buffers[i][:c.filter.Count] }
	return buffer.AppendState(dst, c.steps, c.sums, row)
}

// Restore makes the sum the one whose AppendState wrote state. It refuses, and leaves the sum as it was, when the
// length is another, a sum or a buffer is beyond its limit, anything is not zero before the first step, or a buffer is
// not after a reset.
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
