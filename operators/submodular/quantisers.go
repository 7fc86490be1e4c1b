package submodular

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// boundedGainsQuantiser is the Quantiser of non-negative gains with a public bound on their length, at each position or
// for each copy. Longer gains are scaled down to it and negative numbers become 0. If a number is NaN, the gains of its
// position become zero. Because gains are not negative, the distance of two of them is at most √2 times the length
// bound, and not twice the bound. So the distance of two contributions is at most √(2·Positions)·Most, and the distance
// from zero at most √Positions·Most.
type boundedGainsQuantiser struct {
	Positions, Elements int
	Most                float64 // M, the bound on the length of a position's gains
}

func (s boundedGainsQuantiser) Entries() int { return s.Positions * s.Elements }

func (s boundedGainsQuantiser) Component() contribution.Component {
	clip := float64(math.Sqrt(float64(s.Positions)) * s.Most)
	return contribution.Component{Name: "gains", Size: s.Entries(), Clip: clip, Quantiser: s}
}

// radius returns M in grid units, reduced if necessary so that the gains of all positions are within Λ.
func (s boundedGainsQuantiser) radius(g lattice.Grid) int64 { return fitting(g, s.Most, s.Positions) }

// Distances returns the squares of √(2·Positions)·M and √Positions·M.
func (s boundedGainsQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	zeroOut = times(s.Positions, lattice.Square(s.radius(g)))
	return zeroOut.Add(zeroOut), zeroOut
}

// Quantise scales each position to its length, rounds as lattice.Grid does, and clamps the integers.
func (s boundedGainsQuantiser) Quantise(g lattice.Grid, dst []int64, v []float64) {
	one := lattice.Grid{Exp: g.Exp, Lambda: s.radius(g)}
	for at := 0; at < len(v); at += s.Elements {
		gains := dst[at:][:s.Elements]
		one.Quantise(gains, v[at:][:s.Elements])
		for i, x := range gains {
			gains[i] = max(0, x)
		}
	}
}

// listed reports whether a public list gives a bound on the length of gains.
func (c operator) listed() bool {
	return len(c.types) > 0 && c.norm == 0 && c.rule == byArgmax
}

// lengthOf returns M, or 0 if gains are centred on ½ and have no bound. For a public list, M is the length of the
// longest gains at the first position, if this reduces the sensitivity. No element has a larger gain at a later
// position.
func (c operator) lengthOf(m mechanisms.Config) float64 {
	if !c.listed() {
		return c.norm
	}
	longest, table := 0.0, c.table()
	for j := range c.types {
		sum := 0.0
		for _, v := range table[j*c.elements:][:c.elements] {
			g := c.function.gain(0, v, c.pick)
			sum += float64(g * g)
		}
		longest = max(longest, sum)
	}
	half := float64(c.elements) / 2 // under replace the bound M reduces the sensitivity if 2k·M² < kN
	if m.Unit.AgainstNull() {
		half /= 2 // under zero-out it does if k·M² < kN/4
	}
	if longest >= half {
		return 0
	}
	return math.Sqrt(longest)
}

// centre returns the constant that is subtracted from gains.
func (c operator) centre() float64 {
	if c.length > 0 {
		return 0
	}
	return 0.5
}

// component returns the component of a contribution: the type of an event, or its gains.
func (c operator) component(m mechanisms.Config) contribution.Component {
	if c.rule == byHistogram {
		return typeQuantiser{Types: len(c.types)}.Component()
	}
	positions := c.pick
	if c.rule == byShares {
		positions = c.copiesOf(m)
	}
	if c.length > 0 {
		return boundedGainsQuantiser{Positions: positions, Elements: c.elements, Most: c.length}.Component()
	}
	return gainsQuantiser{Size: positions * c.elements}.Component()
}

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
