// Package decay releases private sums that forget, Σ_{s≤t} γ^{t−s}·v_s, under one guarantee for an event's whole life:
// of all Gaussian mechanisms nearly the smallest variance that such a guarantee allows (PROOF.md, Theorem 2), in m·n
// integers of state.
//
//	t  step, from 1      v_t  contribution sum of a step, lattice units      n  coordinates      γ = Γ/2³⁰      H = 1/(1 − γ)  memory, steps
//	s  noise scale       n_t = round(N(0, s²I)), integers            m  poles q_k with residues R_k, dyadics of 30 bits
//	e  e_0 = 1, e_j = −Σ R_k·q_k^{j−1}      c = 1/e and b = e/(1 − γx) as power series      P  period, steps between resets
//
// At step t the release is
//
//	u_t = v_t + M_t + n_t,    M_t = Σ_{j≥1} e_j·n_{t−j} within η ≤ ½ + 2⁻⁸, j below the age of t in its block
//
// and the sum follows from what is public: Ŝ_t = γŜ_{t−1} + u_t, for one memory or several. Blocks are what lies
// between resets, after the steps t ≡ 0 mod P: there the filter forgets its past, and so no later release has anything
// of the events before.
//
// Guarantee: PROOF.md, Theorem 1, for every event, adaptively, at start-up too: µ-GDP over its first A steps and, from
// A = P on, for ever,
//
//	µ(A) = √(Σ_{j<min(A, P)} (c_jΔ + 2η√n·B_j)²)/s      Δ: ℓ2 distance of two neighbouring contribution sums in lattice units; B_j = Σ_{l<j} c_l
//
// computed by Loss in directed rounding from the very dyadics that the carry uses. The term with B_j asks for a fine
// lattice: Filter.Bits. The variance of a sum is s²·Σb_j² between resets, and Filter.VarianceAt at any step.
//
// Fit finds the fewest poles for a memory that are within one per cent of the optimum; its result differs between
// platforms and is stored. Filter.Ratio is the certificate. Loss turns a filter into noise and claims of an event, and
// UserLoss into those of all events of a user.
//
// What it does not do: a learner with it is compared with points that may drift, not with the best fixed one; a user
// who comes for ever is bounded by nothing but a count of events.
//
//	filter, err := forget.Fit(65536)
//	bits, err := filter.Bits(n, square)
//	loss := forget.Loss{Filter: filter, Square: square(bits), N: n}
//	loss.Scale, err = loss.ScaleFor(dp.GaussianMu(budget))
package decay
