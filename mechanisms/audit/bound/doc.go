// Package bound turns counts of right guesses into lower bounds on the privacy loss of a mechanism: Clopper-Pearson
// limits (1934), and the µ and ε that they refute. It does not depend on a mechanism, so it can test any.
package bound
