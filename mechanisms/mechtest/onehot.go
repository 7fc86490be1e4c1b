package mechtest

import "oriel/mechanisms/lattice"

// OneHot is a contribution.Quantiser for a histogram. It takes the number of a cell, 0 … n−1, and sets its coordinate
// to Λ. Any other number is in no cell. Two contributions are at most Λ√2 apart, and one is Λ from the null
// contribution.
type OneHot struct{ Short bool } // Short plants a fault: a replace distance as if both counts were in one cell

// Entries returns 1.
func (OneHot) Entries() int { return 1 }

// Distances returns the squares of Λ√2 and Λ, or with the fault Λ and Λ.
func (q OneHot) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	square := lattice.Square(g.Lambda)
	if q.Short {
		return square, square
	}
	return square.Add(square), square
}

// Quantise sets the cell to Λ.
func (OneHot) Quantise(g lattice.Grid, dst []int64, v []float64) {
	if i := int(v[0]); v[0] >= 0 && v[0] < float64(len(dst)) {
		dst[i] = g.Lambda
	}
}
