package blt

import "oriel/mechanisms/rational"

// MuAll returns µ of all releases of age steps, rounded up, among all of which a user's events are exchanged. It panics
// at event level.
func (l Loss) MuAll(age uint64) float64 {
	r, err := NewResponse(l.Filter)
	if err != nil || l.Separation == 0 {
		panic("BUG: blt: loss of an invalid filter or of no user")
	}
	if age == 0 {
		return 0
	}
	return l.mu(r.userShift(l.delta(), l.N, age, l.Separation, rational.Events(age, l.Separation)))
}

// userShift returns, in lattice units, how far count ≥ 1 events of one user move the means of the step noises of age
// steps, at the worst places, 0, s, 2s, … (mechanisms/PROOF.md, Theorem 1):
//
//	Δ·√(Σ_{j<age} (Σ_{r<count} d_{j−rs})²) + 2η√n·√(Σ_{j<age} (Σ_{l<j}|β_l|)²),    d_j = 0 for j < 0,
//
// with d_j + E in the place of d_j, j ≥ 0, when d rises by E.
func (r *Response) userShift(delta rational.Interval, n int, age, separation, count uint64) rational.Interval {
	return delta.Mul(r.majorant.Train(age, separation, count).Root()).Add(r.shift(rational.Whole(0), n, age))
}
