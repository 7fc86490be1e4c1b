package contribution

import (
	"fmt"
	"math"

	"oriel/mechanisms/lattice"
)

// Ball is the Quantiser of vectors that lie, at any one time, in a ball around a public centre. The contribution is the
// nearest lattice point. A vector outside the ball is moved, in integers, towards the centre until it is inside. So for
// all vectors two contributions with the same centre are at most 2ρ apart, and a contribution is at most 2ρ from zero.
// For the default contribution the distance is up to 2Λ.
//
// The centre's numbers follow the numbers of the vector, and must be functions of releases and public data. A centre
// with norm above Reach counts as zero, so that zero is inside the ball. Proof: lattice/PROOF.md, claim 5.
type Ball struct {
	Size   int     // n, number of coordinates
	Radius float64 // loss units, > 0
	Reach  float64 // largest ℓ2 norm of a centre, loss units, at most Radius
}

// Entries returns 2n.
func (b Ball) Entries() int { return 2 * b.Size }

// Component returns a component of the ball, on a grid that contains the ball for every allowed centre.
func (b Ball) Component() Component {
	room := 1 + float64((float64(2*math.Sqrt(float64(b.Size)))+4)*0x1p-24) // rounding both up, for Λ ≥ 2²⁴
	return Component{Size: b.Size, Clip: float64((b.Radius + b.Reach) * room), Quantiser: b}
}

// units returns ρ and the reach in units of g. Rounding moves vector and centre by half a unit a coordinate each, √n in
// all. The computation uses only one division by a power of two, one correctly rounded root and one sum, so it is equal
// on every CPU.
func (b Ball) units(g lattice.Grid) (radius, reach int64) {
	up := func(length float64) int64 {
		return int64(min(math.Ceil(float64(length/g.Unit())+math.Sqrt(float64(b.Size))), float64(g.Lambda)))
	}
	return up(b.Radius), up(b.Reach)
}

// Distances returns 2ρ between two contributions, and the smaller of 2ρ and Λ from zero.
func (b Ball) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	radius, _ := b.units(g)
	return lattice.Square(2 * radius), lattice.Square(min(2*radius, g.Lambda))
}

// Quantise calls lattice.Grid.Around.
func (b Ball) Quantise(g lattice.Grid, dst []int64, v []float64) {
	radius, reach := b.units(g)
	g.Around(dst, v[:b.Size], v[b.Size:], radius, reach)
}

// Validate reports all problems of a ball.
func (b Ball) Validate() error {
	if !(b.Radius > 0 && b.Reach >= 0 && b.Reach <= b.Radius && b.Radius <= math.MaxFloat64) {
		return fmt.Errorf("mechanisms: ball of radius %g and reach %g: not finite, the first above 0 and not below the second", b.Radius, b.Reach)
	}
	return nil
}
