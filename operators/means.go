package operators

import (
	"errors"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

// Means are what a decision may follow in place of the newest released sums. Noise of one sum changes from step to step
// more than the sum does, so that a mean over steps has less noise. Step t counts for r = min(1, q/n), n the steps that
// sums hold after it, each with its weight, and the mean before it for 1 − r. Without a memory weights of steps grow as
// t^(q−1), so that a mean reaches back over 1/q of the steps. A mean is a function of what was released: it costs no
// privacy.
type Means struct {
	Sums []float64 // the means, a number for each one of a release; 0 before the first step

	scope protection.Scope
	share float64 // q
}

// NewMeans returns means of n numbers, for a q of 1 at least.
func NewMeans(scope protection.Scope, share float64, n int) *Means {
	return &Means{Sums: make([]float64, n), scope: scope, share: share}
}

// Learn takes the release of the step that has just closed.
func (m *Means) Learn(stream *mechanisms.Stream) {
	share := min(1, m.share/mechanisms.Weight(m.scope, stream.Step()))
	for i, released := range stream.Sum(0) {
		m.Sums[i] += float64(share * (released - m.Sums[i]))
	}
}

// Field returns the field that stores the means in a state.
func (m *Means) Field() Field {
	return Floats(m.Sums, func() error {
		for _, x := range m.Sums {
			if !(math.Abs(x) <= math.MaxFloat64) {
				return errors.New("not means of sums")
			}
		}
		return nil
	})
}
