// Package aggregate publishes private numbers while a stream runs: counts, sums, means, variances, quantiles and
// differences between arms, over public cells, at several memories from one release, each with its error.
//
//	cell         an element of the product of public lists and ranges, row-major; with ORIEL_ELSEWHERE=other one more, for
//	             all other events
//	x            a value clamped to its public range [lo, hi], x̃ = (x − middle)/half in [−1, 1]; w a weight clamped to
//	             [0, most]
//	contribution zero except in the event's cell, which has w·(a, b·x̃, c·(x̃² − ½)) with public weights a, b, c and, for
//	             quantiles, w times a column of the bin of x̃ (operators/aggregate/block)
//	view         sums of contributions: decaying sums of about the last H steps, one view for each memory H; or sums of
//	             all steps; or of one step, depending on the mechanism
//
// The specification is public and fixed at opening; it must not come from private data. What is released depends on
// the mechanism:
//
//	blt with a memory   noisy increments of each step. The sums of all configured memories are computed from the same
//	                    increments, exactly, in the mechanism's fixed point. With ORIEL_INCREMENTS increments
//	                    are published too
//	blt with a window   totals since the start
//	once-gaussian       the totals of each step's events alone: tumbling windows of ORIEL_BATCH events
//	once-laplace        the same, with pure ε: counts are whole numbers
//
// Guarantee: the stream's. Everything here is a function of releases and of the public specification (PROOF.md).
// Standard deviations are functions of settings and step. A step costs O(views·n) and does not allocate.
package aggregate
