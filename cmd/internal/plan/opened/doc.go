// Package opened opens a mechanism for one configuration, as `oriel run` would, and computes the figures of its
// releases: sensitivity, noise, error beside the optimum, memory, and the cost of a step. Errors are float64 formulas
// of the proofs that the functions cite; they guarantee nothing.
package opened
