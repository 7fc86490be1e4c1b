package blt

import (
	"fmt"
	"math/bits"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Carry is the mechanism of one stream. It is not safe for concurrent use.
//
// Invariant: after step t, buffer k of a coordinate is C_k with 0 ≤ Σ_{j≥1} q_k^{j−1}·n_{t+1−j} − 2^{−f}·C_k ≤ 2^{−f}/(1 − q_k), and within
// limit[k]: nothing overflows.
type Carry struct {
	filter   Filter
	grid     lattice.Grid
	sampler  noise.Sampler
	instance uint16
	limit    [MaxPoles]lattice.Int128 // of a buffer, inclusive

	steps   uint64
	total   []lattice.Int128           // Σ v_i, exact
	buffers [][MaxPoles]lattice.Int128 // by coordinate
	drawn   []int64                    // n_t, scratch
}

// New returns a carry before its first step. sampler draws integers of scale s from coordinates within 29s, as noise.Gaussian does; instance
// parts the noise of several mechanisms on one chain. It refuses a scale at which the buffers could overflow.
func New(f Filter, s noise.Scale, grid lattice.Grid, n int, sampler noise.Sampler, instance uint16) (*Carry, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("blt: dimension %d: below 1", n)
	}
	if err := grid.Validate(); err != nil {
		return nil, fmt.Errorf("blt: grid: %w", err)
	}
	limit, err := f.limits(s)
	if err != nil {
		return nil, err
	}
	return &Carry{
		filter:   f,
		grid:     grid,
		sampler:  sampler,
		instance: instance,
		limit:    limit,
		total:    make([]lattice.Int128, n),
		buffers:  make([][MaxPoles]lattice.Int128, n),
		drawn:    make([]int64, n),
	}, nil
}

// Add takes the leaf sum v of step Steps()+1 and writes the release to dst. BEFORE, chain has absorbed every record of the step. The
// step's noise has the key of node {instance, block: step number}, level and index 0.
func (c *Carry) Add(dst []float64, v []int64, chain *noise.Chain) {
	if len(v) != len(c.total) || len(dst) != len(c.total) {
		panic(fmt.Sprintf("BUG: blt: leaf has %d entries and release %d, want %d", len(v), len(dst), len(c.total)))
	}
	c.steps++
	c.sampler.Fill(c.drawn, chain.Seed(noise.NodeID{Instance: c.instance, Block: c.steps}))
	for i, x := range v {
		c.total[i] = c.total[i].AddInt64(x)
		m := c.filter.carry(&c.buffers[i], c.drawn[i])
		dst[i] = c.grid.Float64(c.total[i].Add(m).AddInt64(c.drawn[i]))
	}
}

// carry returns M_t of one coordinate and takes n_t into its buffers: with f = Shift, Q and R the integers of the dyadics,
//
//	M = ⌊(Σ R_k·C_k + 2^{29+f})/2^{30+f}⌋,    C_k ← ⌊Q_k·C_k/2³⁰⌋ + n·2^f.
//
// M depends on n_1 … n_{t−1} alone, which is what PROOF.md, Theorem 1 needs of it. Products stay below 2¹²⁷: limits.
func (f *Filter) carry(buffer *[MaxPoles]lattice.Int128, n int64) (m lattice.Int128) {
	shift := uint(f.Shift) // 8 … 33
	scaledHi, scaledLo := n>>((64-shift)&63), uint64(n)<<(shift&63)
	sumHi, sumLo, carry := uint64(0), uint64(1)<<((fractionBits-1+shift)&63), uint64(0)
	for k := range buffer {
		if k == int(f.Count) {
			break
		}
		b, r, q := &buffer[k], uint64(f.Residues[k]), uint64(f.Poles[k])
		// Two's complement: the high words wrap, and come out right because the product fits.
		hi, lo := bits.Mul64(b.Lo, r)
		sumLo, carry = bits.Add64(sumLo, lo, 0)
		sumHi += hi + uint64(b.Hi)*r + carry

		hi, lo = bits.Mul64(b.Lo, q)
		hi += uint64(b.Hi) * q
		b.Lo, carry = bits.Add64(lo>>fractionBits|hi<<(64-fractionBits), scaledLo, 0)
		b.Hi = int64(hi)>>fractionBits + scaledHi + int64(carry)
	}
	down := (fractionBits + shift) & 63
	return lattice.Int128{Hi: int64(sumHi) >> down, Lo: sumLo>>down | sumHi<<(64-down)}
}

// Steps returns the number of the last step, 0 before the first.
func (c *Carry) Steps() uint64 { return c.steps }
