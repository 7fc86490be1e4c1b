// Package bound turns counts of a test's answers into lower bounds on what a mechanism loses: Clopper-Pearson limits
// (1934), and the µ and ε that they refute. It knows no mechanism, so that any of them may be tested with it.
package bound
