package sumtest

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms/audit/bound"
)

// RefutedMu returns the largest µ that a test refutes at confidence 1 − 2α. yes and no count how often the test
// reported the canary, in n streams with the canary and in n streams without it. Φ⁻¹(TPR) − Φ⁻¹(FPR) is at most µ for
// every test of a µ-GDP mechanism (Dong, Roth and Su 2022).
func RefutedMu(yes, no, n int, alpha float64) float64 {
	return distuv.UnitNormal.Quantile(bound.Lower(yes, n, alpha)) -
		distuv.UnitNormal.Quantile(1-bound.Lower(n-no, n, alpha))
}

// PromisedMu returns a µ that RefutedMu reaches with probability 0.999, if the test is the most powerful test of a
// shift mu, with its threshold at mu/2. Both counts of right answers are binomial at rate Φ(µ/2), and each is 3.3
// standard deviations below its mean with probability 0.0005.
func PromisedMu(mu float64, n int, alpha float64) float64 {
	p := distuv.UnitNormal.CDF(mu / 2)
	right := int(float64(n)*p - 3.3*math.Sqrt(float64(n)*p*(1-p)))
	return RefutedMu(right, n-right, n, alpha)
}
