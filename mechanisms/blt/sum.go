package blt

import (
	"fmt"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Sum is the mechanism of one stream. It is not safe for concurrent use.
//
// Invariant: after step t, buffer k of a coordinate is C_k with 0 ≤ Σ_{j≥1} q_k^{j−1}·n_{t+1−j} − 2^{−f}·C_k ≤
// 2^{−f}/(1 − q_k), and within limit[k], so nothing overflows.
type Sum struct {
	*shared
	steps   uint64
	total   []lattice.Int128           // Σ v_i, exact sum without noise
	buffers [][MaxPoles]lattice.Int128 // by coordinate
}

// shared holds the data that all sums of one calibration share.
type shared struct {
	filter   Filter
	grid     lattice.Grid
	sampler  noise.Sampler
	instance uint16
	limit    [MaxPoles]lattice.Int128 // largest |buffer| of each pole, inclusive
	drawn    []int64                  // scratch: the draws n_t
}

// New returns a sum before its first step. sampler must draw integers of scale s from coordinates within 29s, as
// noise.Gaussian does. instance separates the noise of several mechanisms on one chain. New refuses a scale at which
// the buffers could overflow.
func New(f Filter, s noise.Scale, grid lattice.Grid, n int, sampler noise.Sampler, instance uint16) (*Sum, error) {
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
	common := &shared{filter: f, grid: grid, sampler: sampler, instance: instance, limit: limit, drawn: make([]int64, n)}
	return common.carry(n), nil
}

// Fresh returns a new sum before its first step, as New would make it. Both sums share sampler and scratch, so only one
// of them may be used at a time.
func (c *Sum) Fresh() *Sum { return c.carry(len(c.total)) }

func (s *shared) carry(n int) *Sum {
	return &Sum{shared: s, total: make([]lattice.Int128, n), buffers: make([][MaxPoles]lattice.Int128, n)}
}

// Add takes the contribution sum v of step Steps()+1 and writes the release to dst. The chain must have absorbed every
// event of the step, and closed it, BEFORE. The key of the step's noise is node {instance, block: step number}, level
// and index 0.
func (c *Sum) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	if len(v) != len(c.total) || len(dst) != len(c.total) {
		panic(fmt.Sprintf("BUG: blt: contribution sum has %d entries and release %d, want %d", len(v), len(dst), len(c.total)))
	}
	c.steps++
	c.sampler.Fill(c.drawn, chain.Seed(noise.NodeID{Instance: c.instance, Block: c.steps}))
	for i, x := range v {
		c.total[i] = c.total[i].Add(x)
		m := c.filter.carry(&c.buffers[i], c.drawn[i])
		dst[i] = c.grid.Float64(c.total[i].Add(m).AddInt64(c.drawn[i]))
	}
}

// carry returns M_t of one coordinate and adds n_t to its buffers. With f = Shift, Q and R the integers of the dyadics,
//
//	M = ⌊(Σ R_k·C_k + 2^{29+f})/2^{30+f}⌋,    C_k ← ⌊Q_k·C_k/2³⁰⌋ + n·2^f.
//
// M depends only on n_1 … n_{t−1}, as PROOF.md, Theorem 1 requires. Products stay below 2¹²⁷ (see limits). The code
// repeats the pole's lines because a loop over poles takes a third longer.
func (f *Filter) carry(buffers *[MaxPoles]lattice.Int128, n int64) (m lattice.Int128) {
	shift := uint(f.Shift) & 63 // 8 … 33: tells the compiler that the shift is small
	scaled := lattice.Int128{Hi: n >> ((64 - shift) & 63), Lo: uint64(n) << shift}
	sum := lattice.Int128{Lo: 1 << ((fractionBits - 1 + shift) & 63)}
	switch f.Count {
	case 4:
		sum = buffer.Plus(sum, buffers[3], int64(f.Residues[3]))
		buffers[3] = buffer.Decayed(buffers[3], f.Poles[3], scaled)
		fallthrough
	case 3:
		sum = buffer.Plus(sum, buffers[2], int64(f.Residues[2]))
		buffers[2] = buffer.Decayed(buffers[2], f.Poles[2], scaled)
		fallthrough
	case 2:
		sum = buffer.Plus(sum, buffers[1], int64(f.Residues[1]))
		buffers[1] = buffer.Decayed(buffers[1], f.Poles[1], scaled)
		fallthrough
	default:
		sum = buffer.Plus(sum, buffers[0], int64(f.Residues[0]))
		buffers[0] = buffer.Decayed(buffers[0], f.Poles[0], scaled)
	}
	down := (fractionBits + shift) & 63
	return lattice.Int128{Hi: sum.Hi >> down, Lo: sum.Lo>>down | uint64(sum.Hi)<<(64-down)}
}

// Steps returns the number of the last step, or 0 before the first step.
func (c *Sum) Steps() uint64 { return c.steps }
