package sets

import (
	"math"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// cellQuantiser is the Quantiser of results of explorations. The contribution is the reward, clamped to [−½, ½], at its
// cell, and 0 elsewhere. The inputs are the cell and the reward. A number that is no cell, or a reward NaN, gives the
// zero contribution. The distance of two contributions is largest if both are at the same cell.
type cellQuantiser struct{ Cells int }

// Entries returns 2: cell and reward.
func (cellQuantiser) Entries() int { return 2 }

func (c cellQuantiser) Component() contribution.Component {
	return contribution.Component{Name: "cells", Size: c.Cells, Clip: half, Quantiser: c}
}

// Distances returns the squares of 1 (replace) and ½ (zero-out), in squared units of the grid.
func (cellQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(2 * g.Lambda), lattice.Square(g.Lambda)
}

// Bound returns the largest absolute value of an integer, which stands for ½.
func (cellQuantiser) Bound(g lattice.Grid) int64 { return g.Lambda }

// Quantise rounds the reward to the nearest lattice point, and clamps the integer.
func (c cellQuantiser) Quantise(g lattice.Grid, dst []int64, v []float64) {
	at, x := v[0], v[1]
	if !(at >= 0 && at < float64(c.Cells)) || at != math.Floor(at) || math.IsNaN(x) {
		return
	}
	n := int64(math.Floor(max(-1, min(1, x))/g.Unit() + 0.5))
	dst[int(at)] = max(-g.Lambda, min(g.Lambda, n))
}
