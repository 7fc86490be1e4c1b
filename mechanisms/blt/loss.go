package blt

import (
	"math/big"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational"
)

// scaleMargin raises a scale by a relative 2^scaleMargin beyond the one its loss needs, so that the loss recomputed
// from the scale is not above the calibrated one.
const scaleMargin = -200

// Loss is the exact ε(age) of an event under one calibration, with all inputs of PROOF.md, Theorem 1. It is comparable,
// and a dp.Curve.
type Loss struct {
	Filter Filter
	Square uint64 // Δ², Δ the ℓ2 distance of two sums that differ in one event's contribution, lattice units²
	N      int    // n, number of coordinates
	Scale  noise.Scale
}

// Mu returns µ for the releases of age steps, the first of which has the event, rounded up. It panics unless Filter is
// valid and Scale is positive.
//
//	µ = √(Σ_{j<age} (d_jΔ + 2η√n·Σ_{l<j}|β_l|)²)/scale.
func (l Loss) Mu(age uint64) float64 { return l.mu(l.sensitivity(l.response(), age)) }

// ScaleFor returns the scale, rounded up, at which the releases of age steps are µ-GDP, whatever l.Scale is. The scale
// is not valid if µ is 0.
func (l Loss) ScaleFor(age uint64, mu float64) (noise.Scale, error) {
	r, err := NewResponse(l.Filter)
	if err != nil || !(mu > 0) {
		return noise.Scale{}, err
	}
	return scaleOf(l.sensitivity(r, age), mu), nil
}

// scaleOf returns the smallest scale at which a shift of the noise by sensitivity loses at most µ.
func scaleOf(sensitivity rational.Interval, mu float64) noise.Scale {
	return noise.ScaleUp(dp.Up(rational.Up().Quo(sensitivity.Hi, dp.Exact(mu)), scaleMargin))
}

// sensitivity returns the ℓ2 distance by which an event moves the means of all step noises, in lattice units.
func (l Loss) sensitivity(r *Response, age uint64) rational.Interval {
	return r.shift(l.delta(), l.N, age)
}

// response returns the response of the filter, which must be valid.
func (l Loss) response() *Response {
	r, err := NewResponse(l.Filter)
	if err != nil {
		panic("BUG: blt: loss of an invalid filter")
	}
	return r
}

// delta returns Δ, the square root of l.Square.
func (l Loss) delta() rational.Interval {
	return rational.Distance(new(big.Int).SetUint64(l.Square))
}

// mu returns µ for a sensitivity, rounded up.
func (l Loss) mu(sensitivity rational.Interval) float64 {
	return dp.RoundUp(rational.Up().Quo(sensitivity.Hi, dp.Dyadic(l.Scale.Mant, l.Scale.Exp)))
}
