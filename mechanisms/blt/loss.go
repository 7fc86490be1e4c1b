package blt

import (
	"math/big"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// scaleMargin moves a scale up by a relative 2^scaleMargin beyond what its loss needs, so that a loss recomputed from it is not above
// what it was calibrated to.
const scaleMargin = -200

// Loss is the exact ε(age) of one plan: everything that PROOF.md, Theorem 1 needs. It is comparable, and a dp.Curve.
type Loss struct {
	Filter Filter
	Delta  int64 // Δ, ℓ2 distance of two neighbouring leaf sums, lattice units
	N      int   // n, coordinates
	Scale  noise.Scale
}

// Mu returns µ(age) = √(Σ_{j<age} (d_jΔ + 2η√n·Σ_{l<j}|β_l|)²)/s, rounded up, of all releases of an event's first age steps. It panics
// unless Filter is valid and Scale is positive.
func (l Loss) Mu(age uint64) float64 {
	r, err := NewResponse(l.Filter)
	if err != nil {
		panic("BUG: blt: loss of an invalid filter")
	}
	s := up().SetUint64(l.Scale.Mant)
	s.SetMantExp(s, l.Scale.Exp)
	return dp.RoundUp(up().Quo(r.shift(l.Delta, l.N, age).hi, s))
}

// ScaleFor returns the scale, rounded up, at which a window of a filter is µ-GDP. It is not valid when µ is 0.
func ScaleFor(f Filter, delta int64, n int, window uint64, mu float64) (noise.Scale, error) {
	r, err := NewResponse(f)
	if err != nil || !(mu > 0) {
		return noise.Scale{}, err
	}
	s := up().Quo(r.shift(delta, n, window).hi, new(big.Float).SetFloat64(mu))
	return noise.ScaleUp(dp.RoundUp(up().Add(s, up().SetMantExp(s, scaleMargin)))), nil
}
