package contribution

import "oriel/mechanisms/lattice"

// Marks is the Quantiser of columns of marks: a number above 0 is a mark, Λ units in its column, and any other is none.
// A contribution has one mark at most: of several the first stands. So two contributions are √2·Λ apart at most where
// there are several columns, and Λ where there is one; each is Λ from the null contribution.
type Marks struct{ Columns int }

// Component is a component that has the marks, each of which counts as 1 in the sums.
func (m Marks) Component() Component { return Component{Size: m.Columns, Clip: 1, Quantiser: m} }

// Entries is one a column.
func (m Marks) Entries() int { return m.Columns }

// Distances are √2·Λ, or Λ of one column, between two contributions, and Λ from zero.
func (m Marks) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	zeroOut = lattice.Square(g.Lambda)
	if m.Columns == 1 {
		return zeroOut, zeroOut
	}
	return zeroOut.Add(zeroOut), zeroOut
}

// Quantise marks the first column whose number is above 0. It needs no check in the end: it writes nothing else.
func (m Marks) Quantise(g lattice.Grid, dst []int64, v []float64) {
	for i, x := range v {
		if x > 0 {
			dst[i] = g.Lambda
			return
		}
	}
}
