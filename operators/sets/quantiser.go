package sets

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
)

// cell is the Quantiser of what an exploration told: the contribution is its worth, clamped to [−½, ½], at its cell,
// and 0 elsewhere. It takes the cell and the worth; another cell, or what is not a number, gives the zero contribution.
// Leaves at two cells are nearer than two at one.
type cell struct{ Cells int }

// Entries is 2.
func (cell) Entries() int { return 2 }

// Component is a component that has these contributions.
func (c cell) Component() mechanisms.Component {
	return mechanisms.Component{Name: "cells", Size: c.Cells, Clip: half, Quantiser: c}
}

// Distances are 1 and ½.
func (cell) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(2 * g.Lambda), lattice.Square(g.Lambda)
}

// Bound is ½.
func (cell) Bound(g lattice.Grid) int64 { return g.Lambda }

// Quantise rounds to the nearest lattice point, and clamps as integers.
func (c cell) Quantise(g lattice.Grid, dst []int64, v []float64) {
	at, x := v[0], v[1]
	if !(at >= 0 && at < float64(c.Cells)) || at != math.Floor(at) || math.IsNaN(x) {
		return
	}
	n := int64(math.Floor(max(-1, min(1, x))/g.Unit() + 0.5))
	dst[int(at)] = max(-g.Lambda, min(g.Lambda, n))
}
