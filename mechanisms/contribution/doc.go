// Package contribution describes what one record adds to a stream of private sums: components, which are integers on a
// lattice, and the quantisers that turn numbers into them and prove how far apart two contributions can be.
//
// It knows neither noise nor budget, because a mechanism needs only the distances of contributions.
package contribution
