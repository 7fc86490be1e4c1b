package blt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// A state is, little-endian: the step, u64; the total, n × 16 bytes; the buffers, n × m × 16 bytes, those of a
// coordinate together. The width depends on n and m alone, so that a sealed state shows nothing.

// StateLen returns the length of every state of this carry.
func (c *Carry) StateLen() int {
	return 8 + len(c.total)*(1+int(c.filter.Count))*lattice.Int128Len
}

// AppendState appends the state. It holds the clean total, and past noise in its buffers: it is private, and is only
// ever sealed.
func (c *Carry) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, c.steps)
	for _, x := range c.total {
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
// length is another, a total or a buffer is beyond its limit, or anything is not zero before the first step.
func (c *Carry) Restore(state []byte) error {
	if len(state) != c.StateLen() {
		return fmt.Errorf("blt: state: %d bytes, want %d", len(state), c.StateLen())
	}
	steps, totals := binary.LittleEndian.Uint64(state), state[8:]
	buffers := totals[len(c.total)*lattice.Int128Len:]
	if steps == 0 {
		for _, b := range totals {
			if b != 0 {
				return errors.New("blt: state: not zero before the first step")
			}
		}
	}
	m := int(c.filter.Count)
	at := func(i, k int) lattice.Int128 { return lattice.ParseInt128(buffers[(i*m+k)*lattice.Int128Len:]) }
	bound := totalLimit(steps, c.grid.Lambda)
	for i := range c.total {
		if !buffer.Within(lattice.ParseInt128(totals[i*lattice.Int128Len:]), bound) {
			return errors.New("blt: state: total is beyond its limit")
		}
		for k := range m {
			if !buffer.Within(at(i, k), c.limit[k]) {
				return errors.New("blt: state: buffer is beyond its limit")
			}
		}
	}
	c.steps = steps
	for i := range c.total {
		c.total[i] = lattice.ParseInt128(totals[i*lattice.Int128Len:])
		for k := range m {
			c.buffers[i][k] = at(i, k)
		}
	}
	return nil
}

// maxBatchLog bounds the leaves of a step by 2³¹, as mechanisms.Config does. The batch itself is not known here.
const maxBatchLog = 31

// totalLimit returns steps·2³¹·Λ < 2¹²⁰, which no coordinate of a total passes after that many steps: a leaf's is at
// most Λ.
func totalLimit(steps uint64, lambda int64) lattice.Int128 {
	hi, lo := bits.Mul64(steps, uint64(lambda)<<maxBatchLog)
	return lattice.Int128{Hi: int64(hi), Lo: lo}
}

// limits returns bounds on the buffers, and refuses a scale at which a product of carry could pass 2¹²⁶.
func (f Filter) limits(s noise.Scale) (limit [MaxPoles]lattice.Int128, err error) {
	residue := func(k int) int64 { return int64(f.Residues[k]) }
	if err := buffer.Limits(limit[:], f.Poles[:f.Count], residue, uint(f.Shift), s); err != nil {
		return limit, fmt.Errorf("blt: %w", err)
	}
	return limit, nil
}
