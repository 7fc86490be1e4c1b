// Package contribution describes what one record adds to a stream of private sums: components, which are integers on a
// lattice, and the quantisers that turn numbers into them and prove how far apart two contributions can be.
//
// The package has neither noise nor budgets, because from contributions a mechanism needs only the distances.
package contribution
