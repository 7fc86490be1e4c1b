package sumtest

import (
	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms/audit/bound"
)

// RefutedMu returns the largest µ that a test refutes at confidence 1 − 2α. It said yes to yes of n streams with the
// canary, and to no of n without: Φ⁻¹(TPR) − Φ⁻¹(FPR) is µ at most for every test of a µ-GDP mechanism (Dong, Roth and
// Su 2022).
func RefutedMu(yes, no, n int, alpha float64) float64 {
	return distuv.UnitNormal.Quantile(bound.Lower(yes, n, alpha)) -
		distuv.UnitNormal.Quantile(1-bound.Lower(n-no, n, alpha))
}
