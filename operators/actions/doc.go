// Package actions is the protocol of operators that learn from their own plays. Plays are published ahead as decisions,
// and their feedback returns as events: late, out of order, twice, forged or never.
//
//	play      a decision that a client may carry out. Its name is its number, from 1, in decimals: the decision's index,
//	          and the key of the record that answers it
//	round     the plays that are published at once, at the end of a step (the first before any record): as many as
//	          Config.Actions. Round r goes out before step r, and its plays are those from (r−1)·Actions+1 to r·Actions
//	answer    the first record whose key names a play of an open round, as long as the round has fewer than Config.Records.
//	          It uses the play up, whatever its body contains; every other record answers nothing
//	settled   in step r + Delay the answers of round r are added to the private sum, one for each record of the step, so
//	          that one release holds them all, and no other
//
// A round is open from its own step on, for Delay steps. With Delay 0 it is open for its own step, and each answer is
// added at once. Time is counted in records, whatever their contents are. Missing answers stop nothing, as long as the
// plays offered exceed a step's records by the share that is never answered.
//
// # Privacy
//
// The unit is the play with its feedback: an event, under its public key. Neighbouring streams have one event with
// another value, or with none, under the same key. Keys alone determine which records answer which plays, how many
// answers a round has, and in which step and place each is added. So all of that is public, and equal for neighbours.
// One record of one step adds an answer once, so that exchanging an event moves one contribution. A second, late,
// foreign or forged record adds nothing and counts as a null event; any number of them changes no claim. It still takes
// a record's place in its step, and a sender who guesses the number of an open play can use it up. Because numbers are
// public, the broker must control who may write feedback.
//
// The caller must:
//
//  1. Call Observe once for every record, in log order, null records included, then Next once, and Settle when the step
//     has closed. It must read Settled BEFORE Settle.
//  2. Compute a contribution only from the record whose answer it is and from public data.
//  3. Seal the state when storing it, because it holds answers that are not added yet. Its length depends on the
//     configuration alone. Public returns the part of it that neighbours share.
//
// A Table is a pure machine. Cost: Observe, Next and Settle are O(1) and do not allocate; a state is one pass.
package actions
