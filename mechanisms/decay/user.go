package decay

import (
	"math/bits"

	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational"
)

// UserLoss is the exact ε(age) of all events of one user among any Window steps: PROOF.md, Theorem 4. It is comparable,
// and a dp.UserCurve.
type UserLoss struct {
	Loss

	Separation uint64 // s ≥ 1, steps between events of one user
	Window     uint64 // W, steps among which a user's events are exchanged
}

// Mu returns µ of all releases of age steps from the first step of a window on, rounded up. It panics unless Filter is
// valid and Scale is positive.
func (l UserLoss) Mu(age uint64) float64 { return l.mu(l.sensitivity(l.response(), age)) }

// Life returns µ of all releases there will ever be, of the events among any W steps.
func (l UserLoss) Life() float64 { return l.Mu(forever) }

// MuAll returns µ of all releases of age steps, rounded up, among all of which a user's events are exchanged: without
// end for who comes without end.
func (l UserLoss) MuAll(age uint64) float64 {
	if age == 0 {
		return 0
	}
	r := l.response()
	return l.mu(r.userShift(l.delta(), l.N, age, l.Separation, rational.Events(age, l.Separation)))
}

// ScaleFor returns the scale, rounded up, at which all releases there will ever be are µ-GDP, whatever l.Scale. It is
// not valid when µ is 0, and an error where no sampler has it.
func (l UserLoss) ScaleFor(mu float64) (noise.Scale, error) {
	r, err := newResponse(l.Filter)
	if err != nil || !(mu > 0) {
		return noise.Scale{}, err
	}
	return scaleOf(l.sensitivity(r, forever), mu)
}

// sensitivity returns how far the means of the step noises move, lattice units. No step moves after the end of the
// block that the last exchanged event is in.
func (l UserLoss) sensitivity(r *response, age uint64) rational.Interval {
	last, more := bits.Add64(l.Window-1, r.period, 0)
	if more == 0 {
		age = min(age, last)
	}
	return r.userShift(l.delta(), l.N, age, l.Separation, rational.Events(l.Window, l.Separation))
}
