package decay

import (
	"errors"
	"fmt"
	"math/big"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/rational"
)

// Reading is a decayed sum of the increments of a Sum, with a memory of its own, in the fixed-point numbers of the
// carry. Because increments are public, any reader could compute it: it costs no privacy. With memory 0 the sum does
// not decay.
type Reading struct {
	decay uint32
	limit lattice.Int128
	sums  []lattice.Int128 // decayed sums, with sumBits fraction bits
}

// plainBits bounds the number of increments, 2^plainBits, that a reading without a memory may sum before it is cleared.
const plainBits = 32

// NewReading returns the reading of n coordinates before the first step. memory must be within the limits of a filter's
// memory, or 0. With 0 the sums do not decay, and the caller must clear them after at most 2³² increments.
func NewReading(memory uint64, n int) (*Reading, error) {
	if n < 1 {
		return nil, fmt.Errorf("decay: reading of dimension %d: below 1", n)
	}
	if memory == 0 {
		return &Reading{
			decay: unit, limit: lattice.Int128{Hi: 1 << (maxSum + sumBits + plainBits - 64)},
			sums: make([]lattice.Int128, n),
		}, nil
	}
	if err := checkMemory(memory); err != nil {
		return nil, err
	}
	decay := Decay(memory)
	return &Reading{decay: decay, limit: sumLimit(decay), sums: make([]lattice.Int128, n)}, nil
}

// Add adds the increments of the next step.
func (r *Reading) Add(u []lattice.Int128) {
	for i, x := range u {
		r.sums[i] = decayedSum(r.sums[i], r.decay, x)
	}
}

// Clear sets the sums to zero.
func (r *Reading) Clear() { clear(r.sums) }

// Write writes the sums in loss units, by the grid of the sum.
func (r *Reading) Write(dst []float64, grid lattice.Grid) {
	grid.Exp -= sumBits
	for i, x := range r.sums {
		dst[i] = grid.Float64(x)
	}
}

// StateLen returns the length of every state of this reading: n integers of 16 bytes.
func (r *Reading) StateLen() int { return len(r.sums) * lattice.Int128Len }

// AppendState appends the sums.
func (r *Reading) AppendState(dst []byte) []byte {
	for _, x := range r.sums {
		dst = x.AppendBinary(dst)
	}
	return dst
}

// Restore restores a state that AppendState wrote. It refuses, and leaves the reading unchanged, if the length is wrong
// or a sum exceeds its limit. If empty is set, because no increment was added yet, Restore refuses nonzero sums too.
func (r *Reading) Restore(state []byte, empty bool) error {
	if len(state) != r.StateLen() {
		return fmt.Errorf("decay: reading: %d bytes, want %d", len(state), r.StateLen())
	}
	at := func(i int) lattice.Int128 { return lattice.ParseInt128(state[i*lattice.Int128Len:]) }
	for i := range r.sums {
		switch x := at(i); {
		case empty && x != lattice.Int128{}:
			return errors.New("decay: reading: sum is not zero where nothing was added")
		case !buffer.Within(x, r.limit):
			return errors.New("decay: reading: sum is beyond its limit")
		}
	}
	for i := range r.sums {
		r.sums[i] = at(i)
	}
	return nil
}

// Weight returns N_t = Σ_{s≤t} γ^{t−s} = (1 − γ^t)/(1 − γ), the decayed sum of t steps of 1, which tends to the memory.
// The result is equal on every CPU.
func Weight(memory, steps uint64) float64 {
	return float64(one-remaining(memory, steps)) / float64(one/(1<<30)*(1<<30-uint64(Decay(memory))))
}

// Left returns γ^t, the share of a sum that remains after t steps. The result is equal on every CPU.
func Left(memory, steps uint64) float64 { return float64(remaining(memory, steps)) / one }

// one is 1 with 62 fraction bits.
const one = 1 << 62

// remaining returns γ^t with 62 fraction bits. Each product is rounded down, so the error is at most t·2⁻⁶².
func remaining(memory, steps uint64) uint64 { return rational.Power62(Decay(memory), steps) }

const (
	// MinBits is the lattice of all other mechanisms, with Λ in [2²⁴, 2²⁵). The rounding of contributions requires it.
	MinBits = 25

	// MaxBits is enough for 2²² coordinates at MaxMemory.
	MaxBits = 43

	// fineness is log₂ of the ratio of the main term to the rounding term of µ². After some H steps only the rounding
	// term still grows. At 2⁻¹⁴ of µ², or 3·10⁻⁵ of µ, an event's ε after ten memories equals its lifetime ε to four
	// digits. At 2⁻¹⁰ they would differ by 0.05 %, and Λ would have two bits less.
	fineness = 14
)

// Bits returns the least number of bits of a lattice, Λ in [2^{bits−1}, 2^bits), at which the rounding of the carry
// over a life is negligible compared with the event (PROOF.md, Theorem 1):
//
//	n·(2η)²·Σ_{j<P} B_j² ≤ 2⁻¹⁴·Δ²·Σ_{j<P} c_j²,    Δ² = square(bits).
//
// B_j tends to √H, so this grows like n·H²: 25 bits are enough up to H of some thousands.
func (f Filter) Bits(n int, square func(bits int) lattice.Int128) (int, error) {
	r, err := newResponse(f)
	if err != nil {
		return 0, err
	}
	rho := r.rounding(n)
	rounding := rho.Mul(rho).Mul(r.sums.Energy(r.period)).Mul(rational.Whole(1 << fineness))
	main := r.c.Energy(r.period)
	for bits := MinBits; bits <= MaxBits; bits++ {
		delta := rational.Ratio(new(big.Rat).SetInt(integer(square(bits))))
		if rounding.Hi.Cmp(delta.Mul(main).Lo) <= 0 {
			return bits, nil
		}
	}
	return 0, fmt.Errorf("decay: %d coordinates with memory %d: no lattice of %d bits is fine enough", n, f.Memory, MaxBits)
}
