package forget

import (
	"encoding/binary"
	"errors"
	"fmt"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
)

// A state is, little-endian: the step, u64; Ŝ with its fraction bits, n × 16 bytes; the buffers, n × m × 16 bytes,
// those of a coordinate together. The width depends on n and m alone, so that a sealed state shows nothing.

// StateLen returns the length of every state of this carry.
func (c *Carry) StateLen() int { return 8 + len(c.sums)*(1+int(c.filter.Count))*lattice.Int128Len }

// AppendState appends the state. It holds past noise in its buffers, which with the releases gives decayed sums of the
// data since the last reset: it is private, and is only ever sealed.
func (c *Carry) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, c.steps)
	for _, x := range c.sums {
		dst = x.AppendBinary(dst)
	}
	for i := range c.buffers {
		for _, x := range c.buffers[i][:c.filter.Count] {
			dst = x.AppendBinary(dst)
		}
	}
	return dst
}

// Restore makes the carry the one whose AppendState wrote state. It refuses, and leaves the carry as it was, when the
// length is another, a sum or a buffer is beyond its limit, anything is not zero before the first step, or a buffer is
// not after a reset.
func (c *Carry) Restore(state []byte) error {
	if len(state) != c.StateLen() {
		return fmt.Errorf("forget: state: %d bytes, want %d", len(state), c.StateLen())
	}
	m := int(c.filter.Count)
	steps, sums := binary.LittleEndian.Uint64(state), state[8:]
	buffers := sums[len(c.sums)*lattice.Int128Len:]
	sum := func(i int) lattice.Int128 { return lattice.ParseInt128(sums[i*lattice.Int128Len:]) }
	at := func(i, k int) lattice.Int128 { return lattice.ParseInt128(buffers[(i*m+k)*lattice.Int128Len:]) }
	for i := range c.sums {
		switch x := sum(i); {
		case steps == 0 && x != lattice.Int128{}:
			return errors.New("forget: state: not zero before the first step")
		case !buffer.Within(x, c.sumLimit):
			return errors.New("forget: state: sum is beyond its limit")
		}
		for k := range m {
			switch x := at(i, k); {
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
		c.sums[i] = sum(i)
		for k := range m {
			c.buffers[i][k] = at(i, k)
		}
	}
	return nil
}
