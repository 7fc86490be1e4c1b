package decay

import (
	"errors"
	"math/big"
	"math/bits"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational"
)

// scaleMargin raises a scale by a relative 2^scaleMargin beyond the one its loss needs, so that the loss recomputed
// from the scale is not above the calibrated one.
const scaleMargin = -200

// scaleLimit is the upper limit of the samplers' scales (mechanisms/noise).
const scaleLimit = 1 << 50

// Loss is the exact ε(age) of an event under one calibration, with all inputs of PROOF.md, Theorem 1. It is comparable,
// and a dp.Curve.
type Loss struct {
	Filter Filter
	Square lattice.Int128 // Δ², Δ the ℓ2 distance of two sums that differ in one event's contribution, lattice units²
	N      int            // n, number of coordinates
	Scale  noise.Scale
}

// Mu returns µ for the releases of age steps, the first of which has the event, rounded up. It panics unless Filter is
// valid and Scale is positive.
//
//	µ = √(Σ_{j<min(age, P)} (c_jΔ + 2η√n·Σ_{l<j}c_l)²)/scale.
func (l Loss) Mu(age uint64) float64 { return l.mu(l.sensitivity(l.Filter.valid(), age)) }

// Life returns µ for all releases, without limit of age.
func (l Loss) Life() float64 { return l.Mu(forever) }

// forever is an age that no stream reaches.
const forever = 1<<64 - 1

// ScaleFor returns the scale, rounded up, at which all releases of a life are µ-GDP; l.Scale has no effect. The scale
// is not valid if µ is 0. It fails if no sampler has the scale.
func (l Loss) ScaleFor(mu float64) (noise.Scale, error) {
	return l.scaleFor(mu, l.sensitivity)
}

// scaleFor returns the smallest scale at which the sensitivity of a full life loses at most µ.
func (l Loss) scaleFor(mu float64, of func(r *response, age uint64) rational.Interval) (noise.Scale, error) {
	r, err := newResponse(l.Filter)
	if err != nil || !(mu > 0) {
		return noise.Scale{}, err
	}
	return scaleOf(of(r, forever), mu)
}

// scaleOf returns the smallest scale at which a shift by sensitivity loses at most µ.
func scaleOf(sensitivity rational.Interval, mu float64) (noise.Scale, error) {
	s := noise.ScaleUp(dp.Up(rational.Up().Quo(sensitivity.Hi, dp.Exact(mu)), scaleMargin))
	if s.Float64() >= scaleLimit {
		return noise.Scale{}, errors.New("decay: noise scale must be below 2^50 lattice units: take fewer coordinates, a shorter memory, fewer events of a user or a larger epsilon")
	}
	return s, nil
}

// sensitivity returns the ℓ2 distance by which an event moves the means of all step noises, in lattice units. After the
// end of the event's block no mean moves.
func (l Loss) sensitivity(r *response, age uint64) rational.Interval {
	return r.shift(l.delta(), l.N, min(age, r.period))
}

// delta returns Δ, the square root of l.Square.
func (l Loss) delta() rational.Interval { return rational.Distance(integer(l.Square)) }

// integer returns a square as a big integer; it must not be negative.
func integer(x lattice.Int128) *big.Int {
	if x.Hi < 0 {
		panic("BUG: decay: negative square of a distance")
	}
	z := new(big.Int).SetUint64(uint64(x.Hi))
	return z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(x.Lo))
}

// mu returns µ for a sensitivity, rounded up.
func (l Loss) mu(sensitivity rational.Interval) float64 {
	return dp.RoundUp(rational.Up().Quo(sensitivity.Hi, dp.Dyadic(l.Scale.Mant, l.Scale.Exp)))
}

// UserLoss is the exact ε(age) of all events of one user among any Window steps, by PROOF.md, Theorem 4. It is
// comparable, and a dp.UserCurve.
type UserLoss struct {
	Loss

	Separation uint64 // s ≥ 1, steps between events of one user
	Window     uint64 // W, steps within which a user's events are exchanged
}

// Mu returns µ for the releases of age steps, starting at the first step of a window, rounded up. It panics unless
// Filter is valid and Scale is positive.
func (l UserLoss) Mu(age uint64) float64 { return l.mu(l.sensitivity(l.Filter.valid(), age)) }

// Life returns µ for all releases of a life, if the user's events among any W steps are exchanged.
func (l UserLoss) Life() float64 { return l.Mu(forever) }

// MuAll returns µ for all releases of age steps, rounded up, if a user's events in all of these steps may be exchanged.
// It grows without limit for a user who never stops sending events.
func (l UserLoss) MuAll(age uint64) float64 {
	if age == 0 {
		return 0
	}
	r := l.Filter.valid()
	return l.mu(r.userShift(l.delta(), l.N, age, l.Separation, rational.Events(age, l.Separation)))
}

// ScaleFor returns the scale, rounded up, at which all releases of a life are µ-GDP; l.Scale has no effect. The scale
// is not valid if µ is 0. It fails if no sampler has the scale.
func (l UserLoss) ScaleFor(mu float64) (noise.Scale, error) {
	return l.scaleFor(mu, l.sensitivity)
}

// sensitivity returns the ℓ2 distance by which a user's events move the means of all step noises, in lattice units.
// After the end of the block with the last exchanged event no mean moves.
func (l UserLoss) sensitivity(r *response, age uint64) rational.Interval {
	last, more := bits.Add64(l.Window-1, r.period, 0)
	if more == 0 {
		age = min(age, last)
	}
	return r.userShift(l.delta(), l.N, age, l.Separation, rational.Events(l.Window, l.Separation))
}
