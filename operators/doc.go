// Package operators says what an online-learning algorithm is to the rest of Oriel: a pure machine that takes one
// record at a time and publishes a decision at the end of a step.
//
//	record    one input record, decoded or null, with its place in the log
//	step      B records, closed by count alone
//	decision  x_{t+1}, a dense vector, computed from the steps 1…t; the only thing that leaves
//
// A machine owns no goroutine, lock, clock, logger or global randomness: equal state and equal records give equal
// bytes, on any CPU. Data reaches a decision through the private sum of a mechanisms.Stream only, so everything a
// machine does after that sum is post-processing and costs no privacy: operators/optest plays other events over the same
// sums, and wants the same bytes.
//
// What the caller owes:
//
//  1. Call Open once, BEFORE the first Add of a stream's life, and publish what it returns.
//  2. Call Add for every record of the stream, in log order, null records included: a null record takes its place
//     and an omitted one would shift the steps.
//  3. Copy or encode a Decision's Point BEFORE the machine's next call.
//  4. Save AppendState with the decisions it belongs to, in one transaction; the state is private and must be sealed.
//  5. Use one machine from one goroutine.
package operators
