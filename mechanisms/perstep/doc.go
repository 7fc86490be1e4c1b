// Package perstep releases the contribution sum of each step once, under its own noise. Every event is used once, so
// the privacy of the whole run, for ever, is the privacy of one release ([WDP] care point 3: the noise of noisy online
// gradient descent).
//
//	t  step      v_t  contribution sum of step t, lattice units      n_t  noise of step t, lattice units      q  lattice unit
//
//	y_t = q·(v_t + n_t)
//
// Guarantee: PROOF.md, with s the scale of the noise, Δ the ℓ2 distance of two neighbouring contribution sums and Δ₁
// their ℓ1 distance, all in lattice units. At every age, Gaussian noise is µ-GDP with µ = Δ/s, Gamma noise is Δ/s-DP,
// and discrete Laplace noise is Δ₁/s-DP. There is no window, and no event expires.
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
//	chain.Absorb(identity, contribution)
//	chain.Close(o.Steps()+1)
//	o.Add(released, contribution, chain)
//	chain.Drawn()
package perstep
