package lattice

import (
	"fmt"
	"math"
)

// headroom is a number of binary exponents above the unit. For vectors below it, squares of coordinates in units do not
// overflow. A vector above it is clipped independent of its other coordinates.
const headroom = 400

// tries bounds the number of radii tried: the last radius is Λ − 2²³, and a vector that still fails becomes the zero
// vector.
const tries = 26

// Quantise writes to dst the contribution of a gradient v: clipped to Λq in the ℓ2 norm, then rounded to the nearest
// lattice point, then checked. Any NaN or ±Inf gives the zero vector. It panics if the lengths differ.
//
// Order: clip, round to nearest, and finally check Σnᵢ² ≤ Λ² by Contains. While the check fails, the radius is shrunk
// and the vector rounded again (radii Λ, Λ−½, Λ−1, Λ−2, Λ−4, …). Rounding moves a norm by about 0.3, so the second try
// nearly always passes. The result is a function of v alone.
func (g Grid) Quantise(dst []int64, v []float64) {
	if len(dst) != len(v) {
		panic(fmt.Sprintf("BUG: lattice: gradient has %d entries, want %d", len(v), len(dst)))
	}
	top := largest(v)
	if top == 0 || top >= infinityBits {
		clear(dst)
		return
	}
	exponent := int(top>>fractionBits) - bias // exponent of the largest entry; any subnormal counts as 2⁻¹⁰²³
	if exponent <= g.Exp-2 {                  // every entry is below q/2
		clear(dst)
		return
	}
	// Work in lattice units if squares fit, otherwise in units of the largest entry. Both scalings are exact, except
	// for entries that underflow, which are far below one unit.
	scale, factor := powerOfTwo(-g.Exp), 1.0
	if exponent > g.Exp+headroom {
		scale, factor = powerOfTwo(-min(exponent, bias-1)), math.Inf(1)
	}
	norm := scaledNorm(v, scale)
	for try := range tries {
		radius := g.radius(try)
		if shrunk := radius / norm; shrunk < factor {
			factor = shrunk
		} else if try > 0 {
			continue // the vector is already inside this radius, which the loop has tried
		}
		for i, x := range v {
			dst[i] = nearest(float64(float64(x*scale) * factor))
		}
		if g.Contains(dst) {
			return
		}
	}
	clear(dst)
}

// radius returns the clip radius of a try, in units.
func (g Grid) radius(try int) float64 {
	switch try {
	case 0:
		return float64(g.Lambda)
	case 1:
		return float64(g.Lambda) - 0.5
	default:
		return float64(g.Lambda - 1<<(try-2))
	}
}

// largest returns the bits of the largest |vᵢ|. Bits are ordered as magnitudes are, with infinity and NaN above all.
func largest(v []float64) uint64 {
	top := uint64(0)
	for _, x := range v {
		top = max(top, math.Float64bits(x)&^signBit)
	}
	return top
}

// nearest rounds to the nearest integer, ties to even, for |x| < 2⁵¹: adding 3·2⁵¹ leaves no fraction bits, and one
// IEEE addition rounds to even on every CPU.
func nearest(x float64) int64 {
	const shift = 3 << 51
	return int64(math.Float64bits(x+shift)) - int64(math.Float64bits(shift))
}
