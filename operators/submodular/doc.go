// Package submodular chooses k of N elements so that every event gains, and gains less by each further one: places of
// depots that customers are near, slots of a page of which one is enough.
//
//	event     f_t, monotone and submodular on sets of elements, values in [0, 1]
//	histogram where f_t follows from a public type of the event, its place: how many events each type has, with noise,
//	          and then the greedy set for them. Greedy is post-processing, and the noise hardly matters
//	argmax    for any f_t: at each position the element whose gains behind the set so far add up to most, with noise
//	draws     for any f_t: at each position an element, drawn with a probability that grows by e^η with each unit of gain; no
//	          sum is released, and the stream ends
//	leaders   for any f_t: at each position an element, drawn from a point of the simplex that follows a sum with noise
//	shares    no set, but of each element a probability to be taken; the probabilities add up to k
//
// How far points of leaders and shares stand back from sums follows from the noise that the mechanism declares.
//
// Where events want few of many elements, gains have a public length, and argmax, leaders and shares less noise.
//
// A decision is the set, in greedy's order, or the probabilities, every ORIEL_EMIT_EVERY steps. Greedy has at least 1 −
// 1/e of the best set's value, and mostly all of it. With ORIEL_MEMORY the set follows what changes, and privacy is for
// life.
//
// SPEC.md has functions, choices and figures, and which rule is for which events; PROOF.md why it costs what it says.
package submodular
