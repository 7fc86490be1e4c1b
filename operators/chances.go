package operators

import (
	"math"

	"oriel/mechanisms"
	"oriel/operators/elementary"
)

// ChanceBits are the fraction bits of logarithms of chances in scores.
const ChanceBits = 20

// ByChances is the law of draws by scores of chances, up to a factor that all share: chances that are functions of
// releases and of public data alone, so that a draw costs nothing.
var ByChances = mechanisms.ByLogs(ChanceBits)

// ChanceScore is the score of a chance above 0: its logarithm, rounded down, the same on every CPU.
func ChanceScore(chance float64) int64 {
	return int64(math.Floor(float64(elementary.Log(chance) * (1 << ChanceBits))))
}
