package decay

import (
	"fmt"
	"math/big"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

const (
	// sumBits is the number of fraction bits of Ŝ. Each step truncates less than 2⁻¹⁶ of a unit, 16 units in all at the
	// longest memory.
	sumBits = 16

	// maxSum bounds |v_t + M_t + n_t| by 2^maxSum, because |v_t| ≤ 2⁵⁶ and |M_t| + |n_t| < 2⁵⁶. Then Γ·Ŝ·2^16 stays
	// below 2¹²⁴.
	maxSum = 57
)

// Sum is the mechanism of one stream. It is not safe for concurrent use.
//
// Invariant: after step t, buffer k of a coordinate is C_k with 0 ≤ Σ_{j≥1} q_k^{j−1}·n_{t+1−j} − 2^{−f}·C_k ≤
// 2^{−f}/(1 − q_k), where the sum is over draws since the last reset, and within limit[k], so nothing overflows.
// Buffers are zero after steps t ≡ 0 mod P.
type Sum struct {
	*shared
	steps   uint64
	sums    []lattice.Int128           // Ŝ_t·2^sumBits: public, a function of releases
	buffers [][MaxPoles]lattice.Int128 // carry buffers, by coordinate

	increments []lattice.Int128 // u_t: public increments; a restart loses them
}

// shared holds the data that all sums of one calibration share.
type shared struct {
	filter   Filter
	decay    uint32 // Γ, the decay in units of 2⁻³⁰
	period   uint64 // P, steps between resets
	fine     lattice.Grid
	sampler  noise.Sampler
	instance uint16
	limit    [MaxPoles]lattice.Int128 // largest |buffer| of each pole, inclusive
	sumLimit lattice.Int128           // largest |Ŝ|·2^sumBits
	drawn    []int64                  // scratch: the draws n_t
}

// New returns a sum before its first step. sampler must draw integers of scale s from coordinates within 29s, as
// noise.Gaussian does. instance separates the noise of several mechanisms on one chain. New refuses a scale at which
// the buffers or the sums could overflow.
func New(f Filter, s noise.Scale, grid lattice.Grid, n int, sampler noise.Sampler, instance uint16) (*Sum, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("decay: dimension %d: below 1", n)
	}
	if err := grid.ValidateFine(); err != nil {
		return nil, fmt.Errorf("decay: grid: %w", err)
	}
	common := &shared{
		filter: f, decay: Decay(f.Memory), period: Period(f.Memory), fine: lattice.Grid{
			Exp:    grid.Exp - sumBits,
			Lambda: grid.Lambda,
		},
		sampler: sampler, instance: instance, drawn: make([]int64, n),
	}
	residue := func(k int) int64 { return int64(f.Residues[k]) }
	if err := buffer.Limits(common.limit[:], f.Poles[:f.Count], residue, Shift, s); err != nil {
		return nil, fmt.Errorf("decay: %w", err)
	}
	if largest := float64(buffer.Reach*s.Float64()) + 2; !(largest <= 1<<(maxSum-2)) { // bounds |M| too: Σ|e_j| < 1
		return nil, fmt.Errorf("decay: scale %s: too large for sums of 128 bits", s)
	}
	common.sumLimit = sumLimit(common.decay)
	return common.carry(n), nil
}

// sumLimit returns (2^maxSum·2^sumBits + 1)/(1 − γ): the sum of the largest u_t·γ^j, plus one truncated unit per step.
func sumLimit(decay uint32) lattice.Int128 {
	x := new(big.Int).Lsh(big.NewInt(1), maxSum+sumBits)
	x.Add(x, big.NewInt(1)).Lsh(x, buffer.FractionBits).Quo(x, big.NewInt(1<<buffer.FractionBits-int64(decay)))
	low := new(big.Int).And(x, new(big.Int).SetUint64(1<<64-1))
	return lattice.Int128{Hi: new(big.Int).Rsh(x, 64).Int64(), Lo: low.Uint64()}
}

// Fresh returns a new sum before its first step, as New would make it. Both sums share sampler and scratch, so only one
// of them may be used at a time.
func (c *Sum) Fresh() *Sum { return c.carry(len(c.sums)) }

func (s *shared) carry(n int) *Sum {
	return &Sum{
		shared: s, sums: make([]lattice.Int128, n), buffers: make([][MaxPoles]lattice.Int128,
			n), increments: make([]lattice.Int128, n),
	}
}

// Add takes the contribution sum v of step Steps()+1, |v_i| ≤ 2⁵⁶, and writes Ŝ to dst. The chain must have absorbed
// every event of the step, and closed it, BEFORE. The key of the step's noise is node {instance, block: step number},
// level and index 0.
func (c *Sum) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	if len(v) != len(c.sums) || len(dst) != len(c.sums) {
		panic(fmt.Sprintf("BUG: decay: contribution sum has %d entries and release %d, want %d", len(v), len(dst), len(c.sums)))
	}
	c.steps++
	c.sampler.Fill(c.drawn, chain.Seed(noise.NodeID{Instance: c.instance, Block: c.steps}))
	for i, x := range v {
		n := c.drawn[i]
		u := c.filter.carry(&c.buffers[i], n).Add(x).AddInt64(n)
		c.increments[i], c.sums[i] = u, decayedSum(c.sums[i], c.decay, u)
		dst[i] = c.fine.Float64(c.sums[i])
	}
	if c.steps%c.period == 0 {
		clear(c.buffers)
	}
}

// decayedSum returns ⌊γ·Ŝ⌋ + u for sums with sumBits fraction bits. Its result is public, because it follows from the
// released u.
func decayedSum(sum lattice.Int128, decay uint32, u lattice.Int128) lattice.Int128 {
	return buffer.Decayed(sum, decay, lattice.Int128{Hi: u.Hi<<sumBits | int64(u.Lo>>(64-sumBits)), Lo: u.Lo << sumBits})
}

// carry returns M_t of one coordinate and adds n_t to its buffers. With f = Shift, Q and R the integers of the dyadics,
//
//	M = ⌊(2^{29+f} − Σ R_k·C_k)/2^{30+f}⌋,    C_k ← ⌊Q_k·C_k/2³⁰⌋ + n·2^f.
//
// M depends only on n_1 … n_{t−1}, as PROOF.md, Theorem 1 requires. Products stay below 2¹²⁷ (see buffer.Limits). The
// code repeats the pole's lines because a loop over poles takes a third longer.
func (f *Filter) carry(buffers *[MaxPoles]lattice.Int128, n int64) (m lattice.Int128) {
	scaled := lattice.Int128{Hi: n >> (64 - Shift), Lo: uint64(n) << Shift}
	sum := lattice.Int128{Lo: 1 << (buffer.FractionBits - 1 + Shift)}
	switch f.Count {
	case 6:
		sum = buffer.Plus(sum, buffers[5], -int64(f.Residues[5]))
		buffers[5] = buffer.Decayed(buffers[5], f.Poles[5], scaled)
		fallthrough
	case 5:
		sum = buffer.Plus(sum, buffers[4], -int64(f.Residues[4]))
		buffers[4] = buffer.Decayed(buffers[4], f.Poles[4], scaled)
		fallthrough
	case 4:
		sum = buffer.Plus(sum, buffers[3], -int64(f.Residues[3]))
		buffers[3] = buffer.Decayed(buffers[3], f.Poles[3], scaled)
		fallthrough
	case 3:
		sum = buffer.Plus(sum, buffers[2], -int64(f.Residues[2]))
		buffers[2] = buffer.Decayed(buffers[2], f.Poles[2], scaled)
		fallthrough
	case 2:
		sum = buffer.Plus(sum, buffers[1], -int64(f.Residues[1]))
		buffers[1] = buffer.Decayed(buffers[1], f.Poles[1], scaled)
		fallthrough
	default:
		sum = buffer.Plus(sum, buffers[0], -int64(f.Residues[0]))
		buffers[0] = buffer.Decayed(buffers[0], f.Poles[0], scaled)
	}
	const down = buffer.FractionBits + Shift
	return lattice.Int128{Hi: sum.Hi >> down, Lo: sum.Lo>>down | uint64(sum.Hi)<<(64-down)}
}

// Increments returns u_t of the last step in lattice units. It is public, and valid until the next Add or Restore; the
// caller must not modify it. A restored sum has no increments before its next Add.
func (c *Sum) Increments() []lattice.Int128 { return c.increments }

// Steps returns the number of the last step, or 0 before the first step.
func (c *Sum) Steps() uint64 { return c.steps }
