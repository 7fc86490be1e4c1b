// Package operators says what an online-learning algorithm is to the rest of Oriel: a pure machine that takes one
// record at a time and publishes a decision at the end of a step.
//
//	record    one input record, decoded or null, with its place in the log
//	step      B records, closed by count alone
//	decision  x_{t+1}, a dense vector, computed from the steps 1…t; the only thing that leaves
//
// A machine owns no goroutine, lock, clock, logger or global randomness: equal state and equal records give equal
// bytes, on any CPU. Data reaches a decision through the private sum of a mechanisms.Stream only, so everything a
// machine does after that sum is post-processing and costs no privacy: operators/optest plays other events over the
// same sums, and wants the same bytes.
//
// What the caller owes:
//
//  1. Call Open once, BEFORE the first Add of a stream's life, and publish what it returns.
//  2. Call Add for every record of the stream, in log order, null records included: a null record takes its place
//     and an omitted one would shift the steps.
//  3. Copy or encode a Decision's Point BEFORE the machine's next call.
//  4. Save AppendState with the decisions it belongs to, in one transaction; the state is private and must be sealed.
//  5. Use one machine from one goroutine.
//
// # A new operator
//
// It is a folder here, a row in cmd/internal/families, a row in the table of algorithms of cmd/internal/lint and its
// name in README.md's Layout; nothing else names it. In the folder, with operators/coco as the example:
//
//	Family      name, settings, how events are decoded (a schemas.Body, whether record keys are read), and New, which
//	            reports all that is wrong with the settings at once
//	Configured  what a record adds (mechanisms.Leaf, set by Mechanism), the plan, further members of decisions, a second
//	            topic, a descriptor, how decisions are scored, or what their numbers are of the events; Plain answers for an
//	            operator that has none of them. Describe tells `oriel plan` how exact numbers are (Precision), and which
//	            mechanisms are left out of it
//	Machine     the algorithm; what waits for feedback waits in a pending.Table, draws come from Stream.Choose, which refuses
//	            them behind a horizon (Stream.Ended); scores are of releases, but for those of a stream of draws, which
//	            releases no sum. It decides bytes on every CPU: lint names products that may fuse and functions that differ
//	Twin        what a record should add, by plain code: the audit compares the machine with it, all parts at once. Where
//	            an event is more than one record, or waits, Records says so. `oriel plan` warns where its canaries move a
//	            component by far less than the noise is for
//	PROOF.md    why decisions are post-processing of the sums, what a draw costs, what an exchanged event moves; it
//	            names the tests that would turn red
//	tests       optest.Run (RunHolding where a state holds what events say, beside the sums), RunTerms where settings
//	            keep Common.Terms, golden decisions, a slow twin of each fast path, a planted fault for
//	            each claim; testdata/stories, transcripts of what users send and see (cmd/internal/operatortest)
//
// A list or a file among the settings stands in the canonical configuration as a digest: what it says goes into the
// plan. A setting that comes after the first release is marked Later, and a default never changes: both keep the bytes
// of deployments. `oriel config`, schema, plan, audit, topics, run, replay and tail, and the settings table follow from
// the folder; cmd/oriel/toy_test.go shows it with an operator that has one of everything.
package operators
