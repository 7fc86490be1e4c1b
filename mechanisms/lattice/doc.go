// Package lattice turns clipped gradients into integers, so that floating point cannot leak.
//
//	L  clip, loss units      q = 2^Exp  lattice unit, loss units      Λ = ⌊L/q⌋ ∈ [2²⁴, 2²⁵), finer where rounding adds up      n  dimension of a contribution
//
// A contribution is an integer vector with Σnᵢ² ≤ Λ²; the last operation checks this in exact 128-bit arithmetic. The
// sensitivity is therefore a fact about integers: two contributions differ by at most 2Λ in the ℓ2 norm, and a
// contribution and the null contribution by at most Λ. Sums are exact 128-bit integers (Int128), and noise is integer.
// The one conversion to floating point, Grid.Float64, is a public function of the released integer: so the low bits of
// a decision cannot reveal more than the integer does (Mironov 2012). PROOF.md has the argument.
//
// Every function here gives the same bits on every CPU and compiler. Scaling is by exact powers of two, rounding is to
// nearest even by construction, sums have one fixed order, and no product is added without a conversion that forbids
// fusing. Dot and Norm are here for the same reason; operators whose bytes are replayed must use them.
//
// Cost: Quantise is O(n) and does not allocate. Duty of the caller: a contribution must be a function of its own event
// and of earlier releases, never of other events.
//
//	grid, err := lattice.NewGrid(1.0) // q = 2⁻²⁴, Λ = 2²⁴
//	grid.Quantise(contribution, gradient)
package lattice
