package sets

import (
	"math"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// cellQuantiser is the Quantiser of results of explorations. The contribution is the reward, clamped to [−½, ½], at its
// cell, and 0 elsewhere. The inputs are the cell and the reward. Another cell, or NaN, gives the zero contribution.
// Contributions at two different cells are closer than the farthest two at one cell.
type cellQuantiser struct{ Cells int }

// Entries returns 2.
func (cellQuantiser) Entries() int { return 2 }

// Component returns a component with this quantiser.
func (c cellQuantiser) Component() contribution.Component {
	return contribution.Component{Name: "cells", Size: c.Cells, Clip: half, Quantiser: c}
}

// Distances returns 1 and ½.
func (cellQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(2 * g.Lambda), lattice.Square(g.Lambda)
}

// Bound returns ½.
func (cellQuantiser) Bound(g lattice.Grid) int64 { return g.Lambda }

// Quantise rounds to the nearest lattice point, and clamps the integers.
func (c cellQuantiser) Quantise(g lattice.Grid, dst []int64, v []float64) {
	at, x := v[0], v[1]
	if !(at >= 0 && at < float64(c.Cells)) || at != math.Floor(at) || math.IsNaN(x) {
		return
	}
	n := int64(math.Floor(max(-1, min(1, x))/g.Unit() + 0.5))
	dst[int(at)] = max(-g.Lambda, min(g.Lambda, n))
}
