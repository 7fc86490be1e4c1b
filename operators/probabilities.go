package operators

import (
	"math"

	"oriel/mechanisms"
	"oriel/operators/elementary"
)

// ProbabilityBits is the number of fraction bits in a score that is the logarithm of a probability.
const ProbabilityBits = 20

// ByProbabilities draws with probabilities given by their scores, up to a common factor. The probabilities must depend
// only on releases and public data, so that a draw costs no privacy.
var ByProbabilities = mechanisms.ByLogs(ProbabilityBits)

// ProbabilityScore returns the score of a probability above 0: its logarithm, rounded down, equal on every CPU.
func ProbabilityScore(p float64) int64 {
	return int64(math.Floor(float64(elementary.Log(p) * (1 << ProbabilityBits))))
}
