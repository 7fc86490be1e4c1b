// Package neighbours plays a machine on two neighbouring streams over the same noise, and compares everything that it
// does. It has no statistics: one pair of runs shows a difference, or there is none to see in it.
//
//	record     the first stream, over the sums of the calibration and their true noise: decisions, contribution sums,
//	           releases, noise vectors, draws of indices, and the public part of the state are kept
//	replay     the neighbouring stream: its machine is handed the releases and the indices of the first one. Beside
//	           them its own sums add its own contributions to the recorded noise
//
// The replay must show:
//
//	control flow  the same steps; noise vectors and draws of the same number, order and size; decisions when they are due
//	sensitivity   contribution sums differ in as many steps as the unit has events, as far apart as its events are, and
//	              there by no more than the claimed distance, in exact integers
//	releases      what the sums would release differs by exactly the contributions that differ
//	decisions     the same bytes, but for the answer to an exchanged record where a topic has answers to its own records
//	state         the same bytes where it is public; a machine that is written down and read back goes on as before
//	draws         scores that follow from releases are equal, and those that do not are as near as their law says
//
// Loss holds the largest differences of all pairs against the noise of the calibration: what they lose by the
// definitions of package mechanisms/audit is not more than the guarantee. Sums plays the sums alone, about the ends of
// blocks and resets that a machine takes long to reach.
//
// This is the method of recording and replaying a mechanism's noise, as the auditing library of arXiv:2602.17454 has it
// for calls of a library; here it is a stream's whole machine.
package neighbours
