// Package arms is a private bandit with finitely many arms. It plays the arm with the least estimated loss, tries the
// others rarely, and learns only from the losses of the arms that it played.
//
//	round    as many actions as ORIEL_PLAYS, all of one arm, published ahead of their answers (package actions)
//	answer   the loss of an action, clipped to the public range and mapped to [−½, ½]
//	release  the sum of a round's answers, once, with noise of its own: an event is in one release, for ever
//
// ucb plays the arm with the least lower confidence bound on its loss, given the releases and their noise. exp3 draws
// the arm, and so withstands losses chosen by an adversary who knows the algorithm. SPEC.md states both, their proved
// bounds, and where they differ from their papers. PROOF.md proves the privacy that decisions state.
package arms
