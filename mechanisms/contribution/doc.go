// Package contribution is what one record adds to a stream of private sums: components, which are integers on a
// lattice, and the quantisers that bring numbers to them and have the proof of how far apart two contributions can be.
//
// It knows no noise and no budget, because a distance is all that a mechanism needs of a contribution.
package contribution
