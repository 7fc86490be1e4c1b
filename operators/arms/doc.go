// Package arms is a private bandit with finitely many arms: it plays the arm that has cost least, tries the others
// rarely enough, and learns from the losses of what was played alone.
//
//	round    as many plays as ORIEL_PLAYS, all of one arm, which go out ahead (package plays)
//	answer   the loss of a play, clipped to the public range and mapped to [−½, ½]
//	release  the sum of a round's answers, once, with noise of its own: an event is in one release, for ever
//
// ucb plays the arm whose loss may be least, given what was released and its noise; exp3 draws the arm, and so copes
// with losses that somebody chooses who knows it. SPEC.md has both, what is proved of them, and where they differ from
// their papers; PROOF.md why a decision costs what it says.
package arms
