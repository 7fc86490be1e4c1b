// Package aggregate publishes private numbers while a stream runs: counts, sums, means, variances, quantiles and
// differences between arms, over public cells, at several memories from one release, each with its error.
//
//	cell         an element of the product of public lists and ranges, row-major; one more for events elsewhere, where asked for
//	x            a value clamped to its public range [lo, hi], x̃ = (x − middle)/half in [−1, 1]; w a weight clamped to [0, most]
//	contribution         of one event: zero but for its cell, which has w·(a, b·x̃, c·(x̃² − ½)), public weights a, b, c, and w times a column of the bin that
//	             x̃ is in, for quantiles (operators/aggregate/block)
//	view         sums of contributions: of the last H steps by decay, at each memory; of all steps; or of one step, as the mechanism says
//
// The specification is public and fixed at opening; no number of it comes from data. The mechanism says what is
// released:
//
//	blt with a memory   noisy increments of each step. The sums at every memory that is asked for are read from the same increments, exactly, in the
//	                    fixed point of the mechanism; increments themselves are published on request
//	blt with a window   totals since the start
//	once-gaussian       the totals of each step's events alone: tumbling windows of ORIEL_BATCH events
//
// Guarantee: the stream's. Everything here is a function of releases and of the public specification (PROOF.md).
// Standard deviations are functions of settings and step. A step costs O(views·n) and does not allocate.
package aggregate
