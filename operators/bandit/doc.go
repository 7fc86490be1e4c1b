// Package bandit learns a point of a convex set from the losses of only those points that it has played. The method is
// private, projection-free bandit convex optimisation.
//
//	action        x̃ + ζu, published ahead of its answer (package actions): the centre of a round plus ζ times a
//	              direction u on the unit sphere of the set's tangent space, of dimension m
//	answer        the loss of the action, clipped to the public range
//	contribution  (m/ζ)·(loss − baseline)·u: its mean over u is the gradient of the loss, smoothed over a ball of radius ζ;
//	              the baseline is an estimate of the mean loss from releases
//	centre        argmin ½|x − x₀|² + η⟨ŝ, x⟩ over the set, ŝ the private sum of contributions, by Frank-Wolfe, which needs
//	              only linear minimisations, or by a projection
//
// SPEC.md has the algorithm with its source, departures and figures. PROOF.md proves the privacy that decisions state.
package bandit
