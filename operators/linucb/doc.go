// Package linucb is a contextual bandit over private second moments. It learns for each arm the weights that predict
// its reward from the context. It plays the arm with the largest upper confidence bound on its reward, given the
// releases and their noise.
//
//	context   z = x/X, features scaled to norm at most 1: of the event, with separate weights for each arm; or of each
//	          candidate that the event brings, with the same weights for all; or all products with public features of an arm
//	reward    y, its public range mapped to [−1, 1]
//	release   V_a, u_a: Σ zzᵀ and Σ z·y of an arm's rows, from one contribution (z; s·y) in the arm's block (operators/moments)
//	model     every ORIEL_EMIT_EVERY steps θ_a = (V_a + κI + λI)⁻¹u_a, κ from the declared noise; it is published
//	action    the a with the largest ⟨θ_a, z⟩ + β_a·|z|, |z| in the norm of (V_a + κI + λI)⁻¹
//
// ORIEL_PLAYED selects who chooses actions:
//
//	logged  a client takes the published model, chooses and plays, and sends context, arm and reward in one event. All
//	        publications are private in the ordinary sense
//	served  the first record of a key is a context, and its action is published at once to a second topic; the next record
//	        of that key is its reward. An action depends on its own context, so that only the person in that context
//	        may see it. Privacy is joint: all other publications, and all later actions, hide the context
//
// SPEC.md has settings, choices and figures. PROOF.md proves the privacy cost, and the coverage of the width β.
package linucb
