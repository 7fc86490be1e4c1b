// Package neighbours plays a machine on two neighbouring streams over the same noise, and compares everything that it
// does. It uses no statistics: a single pair of runs shows a difference if there is one.
//
//	record     the first stream, over the sums of the calibration and their true noise: decisions, contribution sums,
//	           releases, noise vectors, draws of indices, and the public part of the state are recorded
//	replay     the neighbouring stream: its machine gets the releases and the indices of the first one. In parallel
//	           its own sums add its own contributions to the recorded noise
//
// The replay must show:
//
//	control flow  the same steps; noise vectors and draws of the same number, order and size; decisions when they are due
//	sensitivity   contribution sums differ in as many steps as the unit has events, at the separation of its events, and
//	              each by at most the claimed distance, in exact integers
//	releases      the releases of its own sums differ exactly by the contributions that differ
//	decisions     the same bytes, except for the answer to an exchanged record if a topic answers its own records; this
//	              answer has the same length in each encoding
//	state         the same bytes where it is public; a machine that is saved and restored continues unchanged
//	draws         equal scores if they follow from releases; otherwise as close as the law requires
//
// Loss compares the largest differences of all pairs with the noise of the calibration: by the definitions of package
// mechanisms/audit, their privacy loss must not exceed the guarantee. CheckSums plays the sums without a machine,
// around the ends of blocks and around resets that a machine would take long to reach.
//
// This is the method of recording and replaying a mechanism's noise, which the auditing library of arXiv:2602.17454
// applies to calls of a library. This package applies it to the complete machine of a stream.
package neighbours
