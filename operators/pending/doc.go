// Package pending stores rows that wait for their feedback: actions of a bandit, contexts of a linear bandit. A Table
// holds at most Capacity of them, each under a public name, for at most Timeout steps.
//
//	put      the row is stored, under a name that no row of the last Timeout steps has
//	take     the feedback has come: the row is returned, once
//	expired  Timeout steps have passed without feedback: the row is returned, in the order of putting
//
// A row occupies its place until its time-out, even if it is taken earlier. So names and steps determine which calls
// find the table full, and which rows have expired, come late or are already taken. A Capacity of Timeout times the
// rows of a step is always enough. The table stores whether a row was taken or timed out until its place is reused,
// which takes at least Capacity further rows. Until then it can distinguish second or late feedback from foreign
// feedback.
//
// The caller must ensure:
//
//  1. Names and steps are public: a record key, the index of an action in decimals. Whether a row is put or taken at a
//     step, and so whether a Put or a Take succeeds, must follow from them and from other public data.
//  2. The content of a row is private and belongs to one event. An event is in one row, and every use of the row is
//     charged to that event, in the step that takes it (or lets it expire). A context and its reward are one event.
//  3. Steps never go back. BEFORE a step puts its rows, the caller must call Expired until it returns false; otherwise,
//     rows that have timed out keep their places.
//  4. A stored state is sealed. Its length reveals nothing, because it depends on the configuration alone.
//
// A Table is a pure machine: equal calls give equal results and equal states. Its index uses a random hash, so that an
// attacker cannot choose colliding names. The hash affects the time of a look-up and never its result. Cost: Put, Take
// and Expired are O(Width + Name), AppendState and Restore one pass over the state; none allocates.
package pending
