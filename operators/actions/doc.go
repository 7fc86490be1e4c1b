// Package actions is the protocol of operators that learn from their own actions. Actions are published ahead as
// decisions, and their feedback returns as events: late, out of order, twice, forged or never.
//
//	action    a decision that a client may carry out. Its name is its number, from 1, in decimals: the decision's index,
//	          and the key of the record that answers it
//	round     the actions that are published together at the end of a step (the first before any record): as many as
//	          Config.Actions. Round r is published before step r, with the actions (r−1)·Actions+1 to r·Actions
//	answer    the first record whose key names an action of an open round, if fewer than Config.Records records have
//	          answered the round. It uses the action up, even if its body has no value; other records answer nothing
//	settled   in step r + Delay the answers of round r are added to the private sum, one for each record of the step, so
//	          that one release contains all of them and no other answers
//
// A round is open from its own step on, for Delay steps. With Delay 0 it is open for its own step, and each answer is
// added at once. Time is counted in records, whatever their contents are. Missing answers stop nothing, as long as a
// round has enough actions: the excess over a step's records must cover the actions that are never answered.
//
// # Privacy
//
// The unit is the action with its feedback: an event, under its public key. Neighbouring streams have one event with
// another value, or with none, under the same key. Keys alone determine which records answer which actions, how many
// answers a round has, and in which step and place each is added. All of these facts are therefore public, and equal
// for neighbours. An answer is added once, by one record of one step, so that exchanging an event changes one
// contribution. A second, late, foreign or forged record adds nothing and counts as a null event; any number of them
// changes no claim. It still takes a record's place in its step, and a sender who guesses the number of an open action
// can use it up. Because numbers are public, the broker must control who may write feedback.
//
// The caller must:
//
//  1. Call Observe once for every record, in log order, including null records, then Next once, and Settle when the
//     step has closed. It must read Settled BEFORE Settle.
//  2. Compute a contribution only from the record whose answer it is and from public data.
//  3. Seal the state when storing it, because it holds answers that are not added yet. The state's length depends only
//     on the configuration. Public returns the bytes that neighbours share.
//
// A Table is a pure machine. Cost: Observe, Next and Settle are O(1) and do not allocate; a state is one pass.
package actions
