// Package linucb is a contextual bandit over private second moments: it learns, for each arm, the weights that tell its
// reward from the context, and plays the arm whose reward may be largest, given what was released and its noise.
//
//	context   z = x/X, features drawn to norm 1: of the event, for each arm weights of its own, or of each candidate that
//	          the event brings, for all of them the same weights; or all products with public features of an arm
//	reward    y, its public range brought to [−1, 1]
//	release   V_a, u_a: Σ zzᵀ and Σ z·y of an arm's rows, from one contribution (z; s·y) in the arm's block (operators/moments)
//	model     every ORIEL_EMIT_EVERY steps θ_a = (V_a + κI + λI)⁻¹u_a, κ from the declared noise; it is published
//	action    the a with the largest ⟨θ_a, z⟩ + β_a·|z|, |z| in the norm of (V_a + κI + λI)⁻¹
//
// ORIEL_PLAYED says who plays:
//
//	logged  whoever decides takes the published model, plays, and sends context, arm and reward in one event. All that
//	        is published is private in the ordinary sense
//	served  the first record of a key is a context, and its action goes out at once to a second topic; the next record
//	        of that key is its reward. An action follows from the context that it is for: it is for those whom that
//	        context is of, and differential privacy is joint: all that others see, and all later actions, hide it
//
// SPEC.md has settings, choices and figures, PROOF.md why it costs what it says, and what is proved of the width β.
package linucb
