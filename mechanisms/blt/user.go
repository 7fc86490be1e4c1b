package blt

import (
	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational"
)

// UserLoss is the exact ε(age) of all events of one user in a window, by mechanisms/PROOF.md, Theorem 1. It is
// comparable, and a dp.UserCurve.
type UserLoss struct {
	Loss

	Separation uint64 // s ≥ 1, steps between events of one user
	Window     uint64 // W, steps within which a user's events are exchanged
}

// Mu returns µ for the releases of age steps, starting at the first step of a window, rounded up. It panics unless
// Filter is valid and Scale is positive.
func (l UserLoss) Mu(age uint64) float64 { return l.mu(l.sensitivity(l.response(), age)) }

// ScaleFor returns the scale, rounded up, at which the releases of age steps are µ-GDP, whatever l.Scale is. The scale
// is not valid if µ is 0.
func (l UserLoss) ScaleFor(age uint64, mu float64) (noise.Scale, error) {
	r, err := NewResponse(l.Filter)
	if err != nil || !(mu > 0) {
		return noise.Scale{}, err
	}
	return scaleOf(l.sensitivity(r, age), mu), nil
}

// MuAll returns µ for the releases of age steps, rounded up, if a user's events in all of these steps may be exchanged.
func (l UserLoss) MuAll(age uint64) float64 {
	r := l.response()
	if age == 0 {
		return 0
	}
	return l.mu(r.userShift(l.delta(), l.N, age, l.Separation, rational.Events(age, l.Separation)))
}

// sensitivity returns the ℓ2 distance by which a user's events move the means of all step noises, in lattice units.
func (l UserLoss) sensitivity(r *Response, age uint64) rational.Interval {
	return r.userShift(l.delta(), l.N, age, l.Separation, rational.Events(l.Window, l.Separation))
}

// userShift returns, in lattice units, the ℓ2 distance by which count ≥ 1 events of one user move the means of the
// noises of age steps, if they are at the worst steps, 0, s, 2s, … (mechanisms/PROOF.md, Theorem 1):
//
//	Δ·√(Σ_{j<age} (Σ_{r<count} d_{j−rs})²) + 2η√n·√(Σ_{j<age} (Σ_{l<j}|β_l|)²),    d_j = 0 for j < 0,
//
// with d_j replaced by d_j + E for j ≥ 0 if d rises by E.
func (r *Response) userShift(delta rational.Interval, n int, age, separation, count uint64) rational.Interval {
	return delta.Mul(r.majorant.Train(age, separation, count).Root()).Add(r.shift(rational.Whole(0), n, age))
}
