package operators

import (
	"math"

	"oriel/mechanisms"
	"oriel/operators/elementary"
)

// ProbabilityBits are the fraction bits of logarithms of probabilities in scores.
const ProbabilityBits = 20

// ByProbabilities is the law of draws by scores of probabilities, up to a factor that all share: probabilities that are
// functions of releases and of public data alone, so that a draw costs nothing.
var ByProbabilities = mechanisms.ByLogs(ProbabilityBits)

// ProbabilityScore is the score of a probability above 0: its logarithm, rounded down, the same on every CPU.
func ProbabilityScore(chance float64) int64 {
	return int64(math.Floor(float64(elementary.Log(chance) * (1 << ProbabilityBits))))
}
