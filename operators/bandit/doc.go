// Package bandit learns a point of a convex set from the losses of what was played alone: private, projection-free
// bandit convex optimisation.
//
//	play     x̃ + ζu: the centre of a round and a direction on the unit sphere of the set's tangent space, of dimension m,
//	         which goes out ahead (package actions)
//	answer   the loss there, clipped to the public range
//	contribution     (m/ζ)·(loss − baseline)·u: on average over u the gradient of the loss, smoothed over a ball of radius
//	         ζ; the baseline is the mean loss, as it is found in what was released
//	centre   argmin ½|x − x₀|² + η⟨ŝ, x⟩ over the set, ŝ the private sum of contributions, by Frank-Wolfe: linear
//	         minimisations alone, or by a projection
//
// SPEC.md has the algorithm with its source, departures and figures; PROOF.md why plays cost what decisions say.
package bandit
