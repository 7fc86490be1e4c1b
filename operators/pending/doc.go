// Package pending keeps rows that wait for their feedback: plays of a bandit, contexts of a linear bandit. A Table
// holds at most Capacity of them, each under a public name, for at most Timeout steps.
//
//	put      the row is there, under a name that no row of the last Timeout steps has
//	take     the feedback is there: the row is given out, once
//	expired  Timeout steps have passed without: the row is given out, in the order of putting
//
// A row holds its place until its time-out, taken or not. So what is full, expired, late or given twice follows from
// names and steps alone, and Capacity of rows a step times Timeout always suffices. That a row was taken, or timed
// out, is remembered for as long as its place is not needed, at least Capacity further rows: until then a second or
// late feedback is told from a foreign one.
//
// What a caller owes:
//
//  1. Names and steps are public: a record key, the index of a play in decimals. That a row was put or taken at a step, and
//     so whether a Put or a Take succeeds, must follow from them and from what is public besides.
//  2. Content is private, and one event's: an event is in one row, and what is made of the row is charged as that event's,
//     in the step that takes it (or lets it expire). A context and its reward are one event.
//  3. Steps never go back. BEFORE a step puts its rows it asks Expired until there is none, or rows that have timed out hold
//     their places.
//  4. A state is sealed by whoever stores it. Its length says nothing: it is that of the configuration.
//
// A Table is a pure machine: equal calls give equal results and equal states. The order of its look-up is by a random
// hash, so that nobody can choose names that collide; it decides how long a look-up takes and never what it finds.
// Cost: Put, Take and Expired are O(Width + Name), AppendState and Restore one pass over the state; none allocates.
package pending
