package operators

import (
	"errors"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators/elementary"
)

// Means are averages of released sums over steps, which a decision may use in place of the newest sums. They have less
// noise, because the noise of one sum changes from step to step more than the sum does. The mean after step t is r
// times the sum of step t plus (1 − r) times the mean before it, with r = min(1, q/n). Here n is the total weight of
// the steps that the sums hold after step t. Without a memory the weights of steps grow as t^(q−1), so that a mean
// covers about the newest 1/q of the steps. Means are functions of releases and cost no privacy.
type Means struct {
	Sums []float64 // the means, one for each number of a release; 0 before the first step

	scope protection.Scope
	share float64 // q, which divides the number of steps that a mean covers
}

// NewMeans returns means of n numbers, with share as q, which must be at least 1.
func NewMeans(scope protection.Scope, share float64, n int) *Means {
	return &Means{Sums: make([]float64, n), scope: scope, share: share}
}

// Learn updates the means with the release of the step that has just closed.
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

// ProbabilityBits is the number of fraction bits in a score that is the logarithm of a probability.
const ProbabilityBits = 20

// ByProbabilities draws with probabilities given by their scores, up to a common factor. The probabilities must depend
// only on releases and public data, so that a draw costs no privacy.
var ByProbabilities = mechanisms.ByLogs(ProbabilityBits)

// ProbabilityScore returns the score of a probability above 0: its logarithm, rounded down, equal on every CPU.
func ProbabilityScore(p float64) int64 {
	return int64(math.Floor(float64(elementary.Log(p) * (1 << ProbabilityBits))))
}
