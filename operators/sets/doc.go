// Package sets finds k of N elements that together are worth most, such as what to show on a page, where each event
// tells only how good the set was that it saw.
//
//	round    as many plays as ORIEL_PLAYS, all of one set, which go out ahead (package plays)
//	answer   what the set of a play was worth, clipped to the public range and mapped to [−½, ½]
//	explores a round that plays the first i elements of the set so far, and one other element behind them
//
// halving tries all elements behind the set so far, drops the worse half, tries the rest twice as often, and takes the
// one that is left; what answers add up to is released once a round, so an event costs pure ε, once, for ever. draws is
// the source's BanditDP: what explorations tell stays sealed, and after each of them a set is drawn anew by exponential
// weights. SPEC.md has both, their rates and bounds, and what to take when; events that say what each element is worth
// to them belong to package submodular, which needs far fewer of them.
package sets
