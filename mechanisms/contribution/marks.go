package contribution

import "oriel/mechanisms/lattice"

// Marks is the Quantiser of columns of marks. A number above 0 is a mark, which adds Λ units to its column; any other
// number adds nothing. A contribution has at most one mark: if several numbers are above 0, the first column counts. So
// two contributions are at most √2·Λ apart, or Λ if there is only one column. A contribution is at most Λ from the null
// contribution.
type Marks struct{ Columns int }

// Component returns a component with the marks, each of which counts as 1 in the sums.
func (m Marks) Component() Component { return Component{Size: m.Columns, Clip: 1, Quantiser: m} }

// Entries returns the number of columns.
func (m Marks) Entries() int { return m.Columns }

// Distances returns √2·Λ between two contributions, or Λ if there is only one column, and Λ from zero.
func (m Marks) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	zeroOut = lattice.Square(g.Lambda)
	if m.Columns == 1 {
		return zeroOut, zeroOut
	}
	return zeroOut.Add(zeroOut), zeroOut
}

// Quantise marks the first column whose number is above 0. It needs no final check in integers, because it writes only
// this mark.
func (m Marks) Quantise(g lattice.Grid, dst []int64, v []float64) {
	for i, x := range v {
		if x > 0 {
			dst[i] = g.Lambda
			return
		}
	}
}
