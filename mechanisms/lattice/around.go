package lattice

import (
	"fmt"
	"math"
)

// outside is the binary exponent, relative to the unit, from which a coordinate is outside every ball here, because Λ
// and radii are below 2⁴⁴.
const outside = 44

// Around quantises into a ball around a public centre instead of zero. It writes a lattice point n with Σ(nᵢ−mᵢ)² ≤
// radius², where m is the centre, in loss units, rounded to the lattice. Two results with the same centre are at most
// 2·radius apart, and each is at most 2·radius from zero. Radius and reach are in units, 0 ≤ reach ≤ radius and radius
// + reach ≤ Λ, so that Σnᵢ² ≤ Λ².
//
// If the centre has Σmᵢ² > reach², or an entry that is not finite, m is zero.
//
// Order: round to nearest, then check exactly in 128 bits. A vector that fails is moved towards m, to radii that shrink
// as in Quantise, until it passes; a vector with a NaN or ±Inf becomes m. The result is a function of v, of the centre
// and of public numbers.
func (g Grid) Around(dst []int64, v, centre []float64, radius, reach int64) {
	if len(dst) != len(v) || len(centre) != len(v) {
		panic(fmt.Sprintf("BUG: lattice: gradient has %d entries, centre %d, want %d", len(v), len(centre), len(dst)))
	}
	if !(0 <= reach && reach <= radius && radius <= g.Lambda-reach) {
		panic(fmt.Sprintf("BUG: lattice: reach %d, radius %d, Lambda %d: not a ball within Lambda that holds zero", reach,
			radius, g.Lambda))
	}
	b := ball{g: g, unit: powerOfTwo(-g.Exp), radius: radius}
	if b.allows(centre, reach) {
		b.centre = centre
	}
	top := largest(v)
	if top >= infinityBits {
		b.atCentre(dst)
		return
	}
	exponent := int(top>>fractionBits) - bias
	if exponent < g.Exp+outside {
		for i, x := range v {
			dst[i] = nearest(float64(x * b.unit))
		}
		if b.contains(dst) {
			return
		}
	}
	b.draw(dst, v, exponent)
}

// ball is the ball of Around. centre is nil for a ball around zero.
type ball struct {
	g      Grid
	unit   float64 // 1/q, units per loss unit
	centre []float64
	radius int64
}

// at returns mᵢ.
func (b *ball) at(i int) int64 {
	if b.centre == nil {
		return 0
	}
	return nearest(float64(b.centre[i] * b.unit))
}

// allows reports whether the rounded centre is within the reach.
func (b *ball) allows(centre []float64, reach int64) bool {
	top := largest(centre)
	if top >= infinityBits || int(top>>fractionBits)-bias >= b.g.Exp+outside {
		return false
	}
	var short word
	for _, x := range centre {
		short = short.plus(nearest(float64(x * b.unit)))
	}
	if short.exact(len(centre)) {
		return short.within(reach)
	}
	var s squares
	for _, x := range centre {
		s = s.plus(nearest(float64(x * b.unit)))
	}
	return s.within(reach)
}

// contains is the check that guarantees the sensitivity.
func (b *ball) contains(n []int64) bool {
	var short word
	for i, x := range n {
		short = short.plus(x - b.at(i))
	}
	if short.exact(len(n)) {
		return short.within(b.radius)
	}
	var distance squares
	for i, x := range n {
		distance = distance.plus(x - b.at(i))
	}
	return distance.within(b.radius)
}

func (b *ball) atCentre(dst []int64) {
	for i := range dst {
		dst[i] = b.at(i)
	}
}

// draw writes a point of the ball for a finite v outside it. exponent is the binary exponent of v's largest entry.
func (b *ball) draw(dst []int64, v []float64, exponent int) {
	// Work in units if squares do not overflow, otherwise in larger units, by a power of two; the vector stays far
	// outside the ball.
	scale := powerOfTwo(-max(b.g.Exp, min(exponent, bias-1)-headroom))
	sum := 0.0
	for i, x := range v {
		d := float64(x*scale) - float64(b.at(i))
		sum += float64(d * d)
	}
	distance := math.Sqrt(sum)
	for try := range tries {
		factor := min(1, Grid{Lambda: b.radius}.radius(try)/distance)
		if factor <= 0 {
			break
		}
		for i, x := range v {
			m := b.at(i)
			dst[i] = m + nearest(float64((float64(x*scale)-float64(m))*factor))
		}
		if b.contains(dst) {
			return
		}
	}
	b.atCentre(dst)
}
