// Package toy is an operator for a test, not for use: it has every feature that an operator may have, and learns
// nothing. It is in the table of operators only in processes that a test starts.
//
// At the start and after every step it publishes an action: an arm, drawn from the releases. The action has a public
// name and waits in a pending row. A record whose key is the name gives feedback on the action, once. Each step has two
// decisions: the sums and, in a topic of its own, the next action.
//
//	coordinate 0     reward of the action, times 1 plus the number of the arm
//	the others       context of the feedback
package toy
