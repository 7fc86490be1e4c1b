// Package decay releases private sums that decay, Σ_{s≤t} γ^{t−s}·v_s, under one guarantee for an event's whole life.
// Among all Gaussian mechanisms its variance is nearly the smallest that such a guarantee allows (PROOF.md, Theorem 2).
// Its state is m·n integers.
//
//	t  step, from 1      v_t  contribution sum of a step, lattice units      n  coordinates      γ = Γ/2³⁰      H = 1/(1 − γ)  memory, steps
//	s  noise scale       n_t = round(N(0, s²I)), integers            m  poles q_k with residues R_k, dyadics of 30 bits
//	e  e_0 = 1, e_j = −Σ R_k·q_k^{j−1}      c = 1/e and b = e/(1 − γx) as power series      P  period, steps between resets
//
// At step t the release is
//
//	u_t = v_t + M_t + n_t,    M_t = Σ_{j≥1} e_j·n_{t−j} within η ≤ ½ + 2⁻⁸, j below the number of steps since the last reset
//
// and the sum follows from public numbers: Ŝ_t = γŜ_{t−1} + u_t, for one memory or several. A block is the steps
// between two resets, which follow the steps t ≡ 0 mod P. A reset empties the filter, so no later increment depends on
// noise of the block before.
//
// Guarantee: PROOF.md, Theorem 1, for every event, for adaptively chosen contributions, and from the first step on. The
// releases of an event's first A steps are µ(A)-GDP, and from A = P on µ(A) stays constant for ever:
//
//	µ(A) = √(Σ_{j<min(A, P)} (c_jΔ + 2η√n·B_j)²)/s      Δ: ℓ2 distance of two neighbouring contribution sums in lattice units; B_j = Σ_{l<j} c_l
//
// Loss computes it in directed rounding from the same dyadics that the carry uses. The term with B_j needs a fine
// lattice: Filter.Bits. The variance of a sum is s²·Σb_j² between resets, and Filter.VarianceAt at any step.
//
// Fit finds the fewest poles for a memory that are within one per cent of the optimum, as Filter.Ratio certifies. Its
// result differs between platforms, so it must be stored. Loss turns a filter into noise and claims for an event, and
// UserLoss into noise and claims for all events of a user.
//
// Limits: the regret of a learner on these sums is against a drifting comparator, not against the best fixed point. The
// lifetime loss of a user who never stops sending events is bounded only by a limit on the number of events.
//
//	filter, err := decay.Fit(65536)
//	bits, err := filter.Bits(n, square)
//	loss := decay.Loss{Filter: filter, Square: square(bits), N: n}
//	loss.Scale, err = loss.ScaleFor(dp.GaussianMu(budget))
package decay
