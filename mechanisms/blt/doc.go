// Package blt releases private prefix sums under window DP with windowed Toeplitz noise. Among all Gaussian mechanisms
// that release every prefix, its variance is nearly the smallest that a window guarantee allows (PROOF.md, Theorem 2).
// Its state is m·n integers.
//
//	t  step, from 1      v_t  contribution sum of a step, lattice units      G_t = Σ_{i≤t} v_i      n  coordinates      W  window, steps
//	s  noise scale       n_t = round(N(0, s²I)), integers            m  poles q_k with residues R_k, dyadics of 30 bits
//	b  b_0 = 1, b_j = Σ R_k·q_k^{j−1}       β = 1/b as power series      d = β/(1 − x), d_j = Σ_{l≤j} β_l
//
// At step t the release is
//
//	y_t = G_t + M_t + n_t,    M_t = Σ_{j≥1} b_j·n_{t−j} within η ≤ ½ + 2⁻⁸
//
// where the carry M_t is an integer, computed from n_1 … n_{t−1} by m buffers a coordinate. Only integers are filtered:
// the loss of a filter of the continuous noise, rounded only at the end, would exceed the claim.
//
// Guarantee: PROOF.md, Theorem 1, for every event and every age A, for adaptively chosen contributions, and from the
// first step on, the releases are µ(A)-GDP with
//
//	µ(A) = √(Σ_{j<A} (d_jΔ + 2η√n·B_j)²)/s      Δ: ℓ2 distance of two neighbouring contribution sums in lattice units; B_j ≥ Σ_{l<j}|β_l|
//
// Loss computes it in directed rounding from the same dyadics that the carry uses. The variance of a release is always
// at most s²·Σb_j².
//
// Fit finds poles for a window and an age weight, which trades the guarantee of this window against later ones. Its
// result differs between platforms, so it must be stored. Loss computes noise and claims from it for an event, and
// UserLoss for all events of a user (mechanisms/PROOF.md, Theorem 1).
//
// Noise of step t is keyed by chain.Seed(NodeID{Instance, Block: t}), after the chain has absorbed the step's records,
// and never drawn again. The state is total, step and buffers: exact integers of fixed width. Add cannot fail, because
// New refuses a scale at which a draw within the sampler's reach could overflow a buffer, and noise.Gaussian makes only
// draws within its reach.
//
// Cost: one noise vector a step and m·n products of 128 bits, whatever W. Add allocates nothing, or two cipher objects
// if the processor has no AES instructions. Duty of the caller: v_t must be a sum of contributions that lattice
// checked, and the chain must have absorbed them BEFORE Add.
//
//	filter, err := blt.Fit(1024, 0.3, 0)
//	loss := blt.Loss{Filter: filter, Square: square, N: n}
//	loss.Scale, err = loss.ScaleFor(1024, dp.GaussianMu(budget))
//	carry, err := blt.New(filter, loss.Scale, grid, n, sampler, 0)
//	chain.Absorb(identity, contribution)
//	chain.Close(carry.Steps()+1)
//	carry.Add(sum, contribution, chain)
//	chain.Drawn()
package blt
