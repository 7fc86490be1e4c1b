// Package submodular chooses k of N elements such that events gain from the set, with diminishing returns: each further
// element adds less. Examples are sites of depots near customers, and slots of a page of which one suffices.
//
//	event     f_t, monotone and submodular on sets of elements, values in [0, 1]
//	histogram where f_t follows from a public type of the event, its place: the number of events of each type, with noise,
//	          and then the greedy set for them. Greedy is post-processing, and the noise hardly matters
//	argmax    for any f_t: at each position the element with the largest noisy sum of gains given the set so far
//	draws     for any f_t: at each position an element, drawn with a probability that grows by e^η with each unit of gain; no
//	          sum is released, and the stream ends
//	leaders   for any f_t: at each position an element, drawn from a point of the simplex that follows a sum with noise
//	shares    no set, but for each element a probability of being taken; the probabilities add up to k
//
// The regulariser of leaders and shares is derived from the noise that the mechanism declares.
//
// If each event values only few of many elements, its gains can be given a public bound on their length. The rules
// argmax, leaders and shares then need less noise.
//
// Once in ORIEL_EMIT_EVERY steps, a decision is published: the set, in the order of the greedy choice, or the
// probabilities. The greedy set has at least 1 − 1/e of the value of the best set, and mostly its full value. With
// ORIEL_MEMORY the set follows changes, and privacy is for life.
//
// The folder has more files than others and no rooms, because every rule reads the same settings (operator), and the
// bounds, the reference model and the score read every rule: a wall between them would only export these settings.
//
// SPEC.md has functions, choices and figures, and which rule suits which events. PROOF.md proves the privacy cost.
package submodular
