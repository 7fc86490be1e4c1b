// Package perstep releases the contribution sum of each step once, under its own noise. Every event is used once, so
// the privacy of the whole run, for ever, is the privacy of one release ([WDP] care point 3: the noise of noisy online
// gradient descent).
//
//	t  step      v_t  contribution sum of step t, lattice units      n_t  noise of step t, lattice units      q  lattice unit
//
//	y_t = q·(v_t + n_t)
//
// Guarantee: PROOF.md, with Δ the ℓ2 distance of two neighbouring contribution sums and s the scale of the noise,
// lattice units: Gaussian noise is µ-GDP with µ = Δ/s, Gamma noise Δ/s-DP, at every age. There is no window, and no
// event expires.
//
// It releases the sum of each step, not prefix sums. The sum of t releases has t times the noise variance of one
// release, so use windowtree or blt for prefix sums.
//
// Noise of a step is keyed by the chain after it has absorbed the step's records. The state is the step number: no
// clean sum and no noise outlives its step. Add costs one noise vector, and allocates nothing except the cipher's
// objects. Duty of the caller: v_t must be a sum of contributions that lattice checked, and the chain must have
// absorbed them BEFORE Add.
//
//	o, err := perstep.New(grid, n, sampler, 0)
//	chain.Absorb(o.Steps()+1, 0, identity, contribution)
//	o.Add(released, contribution, chain)
package perstep
