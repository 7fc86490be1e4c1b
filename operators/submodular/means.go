package submodular

import (
	"errors"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// meansShare says how far back means reach: over the newest 1/24 of what sums hold, mostly (SPEC.md, Means).
const meansShare = 24

// means are what sets of argmax and leaders follow: of each released sum a mean over the newest steps. Noise of one
// sum changes from step to step more than the sum does, so that a mean has less noise; and what all elements lack in it
// alike moves no set. Step t counts for r = min(1, 24/n), n the steps that sums hold after it, each with its weight,
// and what was there before for 1 − r. So without a memory weights grow as t^23.
type means struct {
	scope protection.Scope
	sums  []float64 // k·N
}

// averages reports whether new deployments follow means: with the bounded rate, which has a proof for the newest sums,
// and as printed they do not.
func (c operator) averages() bool {
	return c.rule == byArgmax || c.rule == byLeaders && !c.bounded && !c.printed
}

// newMeans returns those before the first step; nil if the plan follows the newest sums.
func (c operator) newMeans(p params) *means {
	if !p.means {
		return nil
	}
	return &means{scope: c.terms.Scope, sums: make([]float64, c.pick*c.elements)}
}

// learn takes the release of the step that has just closed.
func (m *means) learn(stream *mechanisms.Stream) {
	share := min(1, meansShare/mechanisms.Weight(m.scope, stream.Step()))
	for i, released := range stream.Sum(0) {
		m.sums[i] += float64(share * (released - m.sums[i]))
	}
}

// field is the means in a state.
func (m *means) field() operators.Field {
	return operators.Floats(m.sums, func() error {
		for _, x := range m.sums {
			if !(math.Abs(x) <= math.MaxFloat64) {
				return errors.New("not means of sums")
			}
		}
		return nil
	})
}
