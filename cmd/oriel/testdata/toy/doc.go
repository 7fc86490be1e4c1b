// Package toy is an operator of a test, and nobody's product: it has one of everything that an operator may have, and
// learns nothing. It is in the table of operators only in processes that a test starts.
//
// At the start and after every step it plays an arm, drawn from the releases; the play has a public name, waits in a
// pending row, and a record whose key is the name gives its feedback, once. Two decisions a step: the sums, and, in a
// topic of its own, the next play.
//
//	coordinate 0     reward of the plays, times 1 plus the number of the arm
//	the others       context of the feedback
package toy
