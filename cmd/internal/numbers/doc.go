// Package numbers aggregates the decisions of aggregate by the clock. Decisions publish what came in each step. Here
// steps become hours or days, cells become marginals, and every number has its interval.
//
//	interval   [start, end) of the clock; a decision is in the interval that contains its time
//	column     what increments count: events, x̃ = (x − middle)/half, x̃² − ½, and running counts of bins
//	span       steps (from, to] whose increments one decision has, or several in a row
//	V(w)       variance of the noise in a count over w steps in a row
//
// Increments add up. Their variances do not, because the noise of neighbouring increments cancels. The filter that
// decisions publish gives the draws in a sum of increments. Decisions of an earlier plan publish only window_deviation,
// V(w) far from the start of a stream. Over spans A and B of one stream, with the gaps between them (increments are
// stationary),
//
//	Cov((a, b], (c, d]) = ½·(V(d−a) + V(c−b) − V(c−a) − V(d−b))        a ≤ b ≤ c ≤ d
//
// Cells, columns and streams have independent noise, so their variances add. Where steps are released alone
// (once-gaussian), the variances of steps add, too.
package numbers
