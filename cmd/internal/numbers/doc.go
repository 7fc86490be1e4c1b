// Package numbers gives the numbers of aggregate by the clock: decisions say what came in each step, and here steps
// become hours or days, cells become marginals, and every number has its interval.
//
//	interval   [start, end) of the clock; a decision is in the one that its time is in
//	column     what increments are of: counts, x̃ = (x − middle)/half, x̃² − ½, and running counts of bins
//	span       steps (from, to] that one decision, or several in a row, have the increments of
//	V(w)       variance of the noise in a count over w steps in a row
//
// Increments add up. The noise of neighbouring ones cancels, so that variances do not: the filter that decisions
// publish says which draws a sum of increments holds. Decisions of an earlier plan publish window_deviation alone, V(w)
// far from the start of a stream: over spans A and B of one stream with the gaps between them (increments are
// stationary)
//
//	Cov((a, b], (c, d]) = ½·(V(d−a) + V(c−b) − V(c−a) − V(d−b))        a ≤ b ≤ c ≤ d
//
// Cells, columns and streams have independent noise: there variances add. Where steps are released alone
// (once-gaussian) those of steps add, too.
package numbers
