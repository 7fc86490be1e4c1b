package submodular

import (
	"math"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// typeQuantiser is the Quantiser of an event's type among Types types: the contribution is 1 at its place, and 0
// elsewhere. Its input is the place of the type; any other number gives the zero contribution. The distance of two
// different contributions is √2.
type typeQuantiser struct{ Types int }

// Entries returns 1, the place of the type.
func (typeQuantiser) Entries() int { return 1 }

func (o typeQuantiser) Component() contribution.Component {
	return contribution.Component{Name: "types", Size: o.Types, Clip: 1, Quantiser: o}
}

// one returns 1 in grid units, at most Λ.
func one(g lattice.Grid) int64 { return min(g.Lambda, int64(math.Floor(1/g.Unit()))) }

// Distances returns the squares of √2 and 1.
func (typeQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	near := lattice.Square(one(g))
	return near.Add(near), near
}

// Quantise writes the contribution directly as integers.
func (o typeQuantiser) Quantise(g lattice.Grid, dst []int64, v []float64) {
	if x := v[0]; x >= 0 && x < float64(o.Types) && x == math.Floor(x) {
		dst[int(x)] = one(g)
	}
}

// gainsQuantiser is the Quantiser of Size numbers in [−½, ½]. Other numbers are clamped; if one is NaN the contribution
// is zero. The distance of two contributions is at most √Size, and their distance from zero at most half of that.
type gainsQuantiser struct{ Size int }

func (g gainsQuantiser) Entries() int { return g.Size }

func (g gainsQuantiser) Component() contribution.Component {
	return contribution.Component{Name: "gains", Size: g.Size, Clip: math.Sqrt(float64(g.Size)) / 2, Quantiser: g}
}

// half returns ½ in grid units, reduced if necessary so that contributions are within Λ.
func (g gainsQuantiser) half(grid lattice.Grid) int64 { return fitting(grid, 0.5, g.Size) }

// fitting returns x in grid units, reduced if necessary so that a vector of n numbers of this size has a norm of at
// most Λ.
func fitting(grid lattice.Grid, x float64, n int) int64 {
	units := int64(math.Floor(x / grid.Unit()))
	for units > 0 && lattice.Square(grid.Lambda).Less(times(n, lattice.Square(units))) {
		units--
	}
	return units
}

// times returns n·x by doubling.
func times(n int, x lattice.Int128) (out lattice.Int128) {
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out = out.Add(x)
		}
		x = x.Add(x)
	}
	return out
}

// Distances returns the squares of √Size and √Size/2.
func (g gainsQuantiser) Distances(grid lattice.Grid) (replace, zeroOut lattice.Int128) {
	half := g.half(grid)
	return times(g.Size, lattice.Square(2*half)), times(g.Size, lattice.Square(half))
}

// Bound returns the largest absolute value of an integer, which stands for ½.
func (g gainsQuantiser) Bound(grid lattice.Grid) int64 { return g.half(grid) }

// Quantise rounds to the nearest lattice point, and clamps the integers.
func (g gainsQuantiser) Quantise(grid lattice.Grid, dst []int64, v []float64) {
	half := g.half(grid)
	for i, x := range v {
		if math.IsNaN(x) {
			clear(dst)
			return
		}
		dst[i] = max(-half, min(half, int64(math.Floor(max(-1, min(1, x))/grid.Unit()+0.5))))
	}
}
