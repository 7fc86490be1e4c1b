package sets

import (
	"math"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// cellQuantiser is the Quantiser of what an exploration told: the contribution is its worth, clamped to [−½, ½], at its
// cellQuantiser, and 0 elsewhere. It takes the cellQuantiser and the worth; another cellQuantiser, or what is not a
// number, gives the zero contribution. Leaves at two cells are nearer than two at one.
type cellQuantiser struct{ Cells int }

// Entries is 2.
func (cellQuantiser) Entries() int { return 2 }

// Component is a component that has these contributions.
func (c cellQuantiser) Component() contribution.Component {
	return contribution.Component{Name: "cells", Size: c.Cells, Clip: half, Quantiser: c}
}

// Distances are 1 and ½.
func (cellQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(2 * g.Lambda), lattice.Square(g.Lambda)
}

// Bound is ½.
func (cellQuantiser) Bound(g lattice.Grid) int64 { return g.Lambda }

// Quantise rounds to the nearest lattice point, and clamps as integers.
func (c cellQuantiser) Quantise(g lattice.Grid, dst []int64, v []float64) {
	at, x := v[0], v[1]
	if !(at >= 0 && at < float64(c.Cells)) || at != math.Floor(at) || math.IsNaN(x) {
		return
	}
	n := int64(math.Floor(max(-1, min(1, x))/g.Unit() + 0.5))
	dst[int(at)] = max(-g.Lambda, min(g.Lambda, n))
}
