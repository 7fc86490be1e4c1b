// Package plan computes and shows the costs and guarantees of a setting before any event is read. It covers the
// configured mechanism and every other mechanism that fits: sensitivity, noise, error beside the smallest error of any
// Gaussian mechanism, ε at every age, ε of a group, memory, and the cost of a step. It makes each plan as `oriel run`
// would, and computes every figure from the plan.
//
//	W  window, steps     B  events a step     n  coordinates     Δ  sensitivity, loss units     S_W²  the optimum's variance factor
//
// New returns a Report. It prints as readable tables (Print), and encodes as one JSON object (encoding/json), whose
// names stay the same in later versions.
//
// Privacy losses are exact figures of mechanisms/dp, and are rounded up. Errors are float64 formulas, rounded to the
// nearest, and guarantee nothing. Equal settings give equal bytes, except for memory, which is measured in this
// process.
//
//	report	setting, optimum, ages[], mechanisms[], left_out[], advice, warnings[]; numbers, if decisions are
//		numbers of known noise, and solved, if a setting was solved for (package solve)
//
// The rooms below compute the parts of a report. Packages opened, statistics and decisions have the figures of one
// mechanism, of numbers and of decisions; rates relates steps to time, volume measures what is published, and solve
// finds a setting for a wanted error. Package compare stands above, and compares reports.
//
// The fields are documented where they are declared. null stands for a figure that does not exist for the
// setting, or that is not finite.
package plan
