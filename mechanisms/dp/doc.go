// Package dp states privacy guarantees, composes them, and converts between their currencies: exact Gaussian
// differential privacy (µ), zCDP (ρ), pure ε, and (ε,δ).
//
//	ε, δ  budget of one window      µ  Gaussian-DP parameter: sensitivity over noise scale, both in the ℓ2 norm
//	W     window, steps             A  age of an event: all releases of its first A steps
//	ρ     zCDP parameter: Rényi divergence of every order α is at most αρ
//
// A Total adds losses in their own currencies and converts them once. Every conversion is rounded against the claim: a
// δ or an ε is rounded up, and a µ or ρ that noise is calibrated to is rounded down (PROOF.md). The arithmetic is
// math/big at 192 bits with a margin of 2⁻¹⁴⁰. So the results are also tight: for µ above 10⁻²⁰ no float64 lies between
// a result and the true value. A conversion takes some milliseconds, or some tens for a total with several currencies.
// It happens at opening or in reports, never on the event path; its result is stored in a calibration, so stored bytes
// never depend on a recomputation.
//
// Package protection gives a figure its meaning: a Guarantee names its scope and its unit. Guarantees hold against
// polynomial-time adversaries, because noise comes from a pseudorandom function.
//
// References:
//   - Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy" (ICML 2018), Theorem 8
//   - Dong, Roth and Su, "Gaussian Differential Privacy" (JRSS B 2022), Corollary 2.13
//   - Bun and Steinke, "Concentrated Differential Privacy" (TCC 2016)
//   - Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (NeurIPS 2020), Proposition 12
//   - Kairouz, Oh and Viswanath, "The Composition Theorem for Differential Privacy" (ICML 2015)
//
// For example, two streams of the same µ and a mechanism of pure ε = 0.1:
//
//	mu := dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6}) // 0.2367…
//	var total dp.Total
//	total.AddMu(mu)
//	total.AddMu(mu)
//	total.AddPure(0.1)
//	total.Epsilon(1e-6) // 1.5108…
package dp
