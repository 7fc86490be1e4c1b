package decay

import (
	"fmt"
	"math/big"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/rational"
)

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
