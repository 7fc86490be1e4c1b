// Package sets finds k of N elements that together have the largest value, for example what to show on a page, if each
// event reports only the value of the set that it saw.
//
//	round    as many actions as ORIEL_PLAYS, all of one set, published ahead of their answers (package actions)
//	answer   the value of the set of an action, clipped to the public range and mapped to [−½, ½]
//	explores a round that plays the first i elements of the set so far, followed by one other element
//
// halving tries all elements after the set so far, drops the worse half, tries the rest twice as often, and takes the
// last remaining element. The sum of answers is released once for each round, so an event loses pure ε only once in the
// life of the stream. draws is BanditDP of the source paper (SPEC.md): results of explorations are never released, and
// after each exploration a set is drawn anew by exponential weights. SPEC.md has both, their rates and bounds, and when
// to use which. Events that contain the value of each element belong to package submodular, which needs far fewer
// events.
package sets
