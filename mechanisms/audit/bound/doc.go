// Package bound turns counts of right guesses into lower bounds on the privacy loss of a mechanism: Clopper-Pearson
// limits (1934), and the µ and ε that they refute. It knows nothing of mechanisms, so any of them can be tested with
// it.
package bound
