// Package actions is the protocol of operators that learn from what was played: plays go out ahead as decisions, and
// their feedback comes back as events, late, out of order, twice, forged or never.
//
//	play      a decision that somebody may carry out. Its name is its number, from 1, in decimals: the decision's index,
//	          and the key of the record that answers it
//	round     the plays that are published at once, at the end of a step (the first before any record): as many as
//	          Config.Actions. Round r goes out before step r, and its plays are those from (r−1)·Actions+1 to r·Actions
//	answer    the first record whose key names a play of an open round, as long as the round has fewer than Config.Records.
//	          Whatever its body says, the play is then used up; every other record answers nothing
//	settled   in step r + Delay the answers of round r are added to the private sum, a record of the step each, so that
//	          one release holds them all, and no other
//
// A round is open from its own step on, for Delay steps; with Delay 0 for its own step, and each answer is added at
// once. Time is counted in records, whatever they say: nothing waits for what does not come, as long as more plays are
// offered than a step has records, by the share that is never answered.
//
// # Privacy
//
// The unit is the play with its feedback: an event, under its public key. Neighbouring streams have one event with
// another value, or with none, under the same key. Which records answer which plays, how many answers a round has, and
// in which step and place each is added are functions of keys alone, so all of that is public, and equal for
// neighbours. An answer is added once, by one record of one step: what the exchange of an event moves is one
// contribution. A second, late, foreign or forged record adds nothing and is an event that says nothing: any number of
// them changes no claim. It does take a record's place in its step, and who guesses the number of an open play can use
// it up: numbers are public, so who may write feedback is the broker's to say.
//
// What a caller owes:
//
//  1. Observe once for every record, in log order, null records included, and then Next once, and Settle when the step has
//     closed. BEFORE Settle it reads Settled.
//  2. A contribution that depends on the record whose answer it is, on what is public, and on nothing else.
//  3. The state is sealed by whoever stores it: it holds answers that are not added yet. Its length is the
//     configuration's. Public is the part of it that neighbours share.
//
// A Table is a pure machine. Cost: Observe, Next and Settle are O(1) and do not allocate; a state is one pass.
package actions
