// Package band has the band around predictions that holds a given share of labels in the long run, whatever the events.
// With the logistic loss it is a set of labels. It counts misses in columns of a contribution of their own, beside the
// gradients of a learner, and follows the noisy counts (PROOF.md of the operator, claims 5 and 6).
//
// The package knows the loss and the largest prediction, and neither the set nor the update of the learner. The learner
// adds the columns to its contribution, marks each event before it is added, and calls Step when a step has closed.
package band
