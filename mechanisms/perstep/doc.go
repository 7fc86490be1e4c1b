// Package perstep releases the contribution sum of each step a single time, under noise of its own: every event is used
// once, so the privacy of the whole run, for ever, is that of one release ([WDP] care point 3: the noise of noisy
// online gradient descent).
//
//	t  step      v_t  contribution sum of step t, lattice units      n_t  noise of step t, lattice units      q  lattice unit
//
//	y_t = q·(v_t + n_t)
//
// Guarantee: PROOF.md, with Δ the ℓ2 distance of two neighbouring contribution sums and s the scale of the noise,
// lattice units: Gaussian noise is µ-GDP with µ = Δ/s, Gamma noise Δ/s-DP, at every age. There is no window and nothing
// expires.
//
// What is released is a step's sum and not a prefix sum: the sum of the first t releases has t times the noise of one,
// so whoever needs prefix sums takes windowtree or blt.
//
// Noise of a step is keyed by the chain after it has absorbed the step's records. The state is the step number: no
// clean sum and no noise outlives its step. Add costs one noise vector, and allocates nothing but the cipher's own.
// What the caller owes: v_t is a sum of contributions that lattice checked, absorbed by the chain BEFORE Add.
//
//	o, err := once.New(grid, n, sampler, 0)
//	chain.Absorb(o.Steps()+1, 0, identity, contribution)
//	o.Add(released, contribution, chain)
package perstep
