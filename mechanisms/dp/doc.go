// Package dp states privacy guarantees and converts between their currencies: exact Gaussian differential privacy (µ), (ε,δ), and
// pure ε.
//
//	ε, δ  budget of one window      µ  Gaussian-DP parameter: sensitivity over noise scale, both in the ℓ2 norm
//	W     window, steps             A  age of an event: all releases of its first A steps
//
// Every conversion is rounded against the claim: a δ or an ε is rounded up, a µ that noise is calibrated to is rounded down. The
// arithmetic is math/big at 192 bits with a margin of 2⁻¹⁴⁰ (see GaussianDelta), so a figure is also tight: for µ above 10⁻²⁰
// nothing between it and the true value is a float64. A conversion takes some milliseconds and is made at opening, never on the event path; its
// result is frozen in a plan and never recomputed into bytes.
//
// What a figure means is said by Guarantee: the adjacency, the unit, the window in steps. Guarantees hold against
// polynomial-time adversaries, because noise comes from a pseudorandom function.
//
// References: Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy" (ICML 2018), Theorem 8; Dong, Roth and
// Su, "Gaussian Differential Privacy" (JRSS B 2022), Corollary 2.13.
//
//	mu := dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6}) // 0.2064…
package dp
