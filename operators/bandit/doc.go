// Package bandit learns a point of a convex set from the losses of what was played alone: private, projection-free
// bandit convex optimisation.
//
//	play     x̃ + ζu: the centre of a round and a direction on the sphere, which goes out ahead (package plays)
//	answer   the loss there, clipped to the public range
//	contribution     (n/ζ)·loss·u: on average over u the gradient of the loss, smoothed over a ball of radius ζ
//	centre   argmin ½|x − x₀|² + η⟨ŝ, x⟩ over the set, ŝ the private sum of contributions, by Frank-Wolfe: linear
//	         minimisations alone, or by a projection
//
// SPEC.md has the algorithm with its source, departures and figures; PROOF.md why plays cost what decisions say.
package bandit
