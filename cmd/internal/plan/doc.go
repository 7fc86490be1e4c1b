// Package plan computes and shows what a setting costs and proves, before any event is read: for the configured
// mechanism and every other that fits it, sensitivity, noise, error beside the least that any Gaussian mechanism can
// have, ε at every age, ε of a group, memory, and the cost of a step. A plan is made for each as `oriel run` would make
// it, and every figure is computed from that plan.
//
//	W  window, steps     B  events a step     n  coordinates     Δ  sensitivity, loss units     S_W²  the optimum's variance factor
//
// New returns a Report, NewFrontier a Frontier: what the filters of blt reach. Both print as tables for a person
// (Print), draw a slide of 16:9 (Slide), and encode as JSON (encoding/json), one object whose names stay.
//
// Privacy losses are exact figures of mechanisms/dp, rounded up, and shown rounded up. Errors are float64 formulas, to
// the nearest: they promise nothing. Equal settings give equal bytes, but for times that were measured on request, and
// for memory, which is what the allocator of this process hands out.
//
//	report	setting, optimum, ages[], mechanisms[], left_out[], advice, warnings[]; numbers, where decisions are
//		numbers of known noise, and solved, where a setting was solved for (Solve)
//	frontier	window_steps, poles, filters[], compromises[]
//
// The fields of both are documented where they are declared. null is a figure that does not exist for the setting, or
// is not finite.
package plan
