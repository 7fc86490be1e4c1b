package blt

import (
	"fmt"
	"math"
	"math/bits"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// StateLen returns the length of every state of this sum.
func (c *Sum) StateLen() int { return buffer.StateLen(len(c.total), int(c.filter.Count)) }

// AppendState appends the state in the format of package buffer, with totals as its sums. It holds the clean total and
// past noise, so it is private and must only ever be stored sealed.
func (c *Sum) AppendState(dst []byte) []byte {
	return buffer.AppendState(dst, c.steps, c.total, c.row)
}

// row returns the buffers of coordinate i, one per pole.
func (c *Sum) row(i int) []lattice.Int128 { return c.buffers[i][:c.filter.Count] }

// Restore restores a state that AppendState wrote. It refuses, and leaves the sum unchanged, if the length is wrong, a
// total or a buffer exceeds its limit, or anything before the first step is not zero.
func (c *Sum) Restore(state []byte) error {
	s, err := buffer.ParseState(state, len(c.total), int(c.filter.Count))
	if err == nil {
		const neverReset = math.MaxUint64
		err = s.Check(totalLimit(s.Steps(), c.grid.Lambda), c.limit[:], neverReset)
	}
	if err != nil {
		return fmt.Errorf("blt: %w", err)
	}
	c.steps = s.Steps()
	s.Write(c.total, c.row)
	return nil
}

// maxBatchLog bounds the contributions of a step by 2³¹, as mechanisms.Config does. A Sum does not know its batch size.
const maxBatchLog = 31

// totalLimit returns steps·2³¹·Λ < 2¹²⁰, the bound on each coordinate of a total after this many steps, because a
// contribution is at most Λ.
func totalLimit(steps uint64, lambda int64) lattice.Int128 {
	hi, lo := bits.Mul64(steps, uint64(lambda)<<maxBatchLog)
	return lattice.Int128{Hi: int64(hi), Lo: lo}
}

// limits returns bounds on the buffers, and refuses a scale at which a product in carry could exceed 2¹²⁶.
func (f Filter) limits(s noise.Scale) (limit [MaxPoles]lattice.Int128, err error) {
	residue := func(k int) int64 { return int64(f.Residues[k]) }
	if err := buffer.Limits(limit[:], f.Poles[:f.Count], residue, uint(f.Shift), s); err != nil {
		return limit, fmt.Errorf("blt: %w", err)
	}
	return limit, nil
}
