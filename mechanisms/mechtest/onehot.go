package mechtest

import "oriel/mechanisms/lattice"

// OneHot is a contribution.Quantiser for a histogram. It takes the number of a cell, 0 … n−1, and sets the cell's
// coordinate to Λ. For any other number the contribution is zero. Two contributions are at most Λ√2 apart, and a
// contribution is at most Λ from the null contribution.
type OneHot struct{ Short bool } // Short plants a fault: a replace distance that assumes both counts in one cell

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
