// Package numbers adds up the decisions of the operator aggregate by the clock. Decisions publish the increments of
// each step. The package turns steps into hours or days and cells into marginals, and gives every number an interval.
//
//	interval   [start, end) of the clock; a decision is in the interval that contains its time, and
//	           a step by the clock in the one in which it lies
//	column     what increments count: events, x̃ = (x − middle)/half, x̃² − ½, and running counts of bins
//	span       steps (from, to] whose increments are in one decision, or in several consecutive ones
//
// Increments add up. Their variances do not, because the noise of neighbouring increments cancels. The filter that
// decisions publish gives the weight of each noise draw in a sum of increments.
//
// Cells, columns and streams have independent noise, so their variances add up. If steps are released separately
// (once-gaussian, once-laplace), the variances of steps add up, too. The noise of once-laplace is not normal, so that
// intervals follow from the law of the sum of its draws (package laplace).
package numbers
