// Package baselines has the algorithms with which Table I of the window paper compares its own, as far as no operator
// has them as a setting: POCG and PQFTL. They are experiments for `papers reproduce`, not services: nothing seals their
// state, and decisions of POCG are floats to which noise was added. Their noise is drawn by a mechanisms.Stream.
//
//	T  steps      C  the set, diameter D      µ  strong convexity      L  clip of an event's gradient
//	f_t(x) = ½(y − ⟨v, x⟩)² + (µ/2)|x|², or (µ/2)|x − z|²      x_t  played      s_t  secret
//
//	POCG   s_{t+1} = argmin_C ½|x − s_t|² + f_t(x)/(µt),  x_{t+1} = Π_C(s_{t+1} + N(0, (β/t)²I))
//	PQFTL  x_{t+1} = Π_C((V + κI + µtI)⁻¹u),  V and u released Σ vvᵀ and Σ yv
//
// POCG is private online convex programming by implicit gradient descent (Jain, Kothari and Thakurta, "Differentially
// Private Online Learning", COLT 2012). PQFTL is private follow-the-leader for quadratic losses (the same paper). Both
// are (ε, δ)-private for the whole run of T steps, under replacement of one loss (PROOF.md).
//
// The other algorithms of Table I are settings of operators/coco. FTAL and PFTAL are its projection update with a
// window of the whole run, the local oracle of Garber and Hazan is its llo update, and noisy gradient descent is its
// ogd update.
//
// Cost of a step: for POCG a projection, or some sixty projections for least squares; for PQFTL d²/2 numbers of noise
// and d³/6 multiplications.
package baselines
