package decay

import (
	"math"
	"math/big"

	"oriel/mechanisms/rational"
)

// Optimum returns ((2/π)·K(γ))² rounded down, K the complete elliptic integral of the first kind of modulus γ. It is
// the least long-run variance, in units of (Δ/µ)², of a Gaussian mechanism that releases decayed sums and is µ-GDP for
// every event over its full life (PROOF.md, Theorem 2).
func Optimum(memory uint64) float64 {
	x, accuracy := optimum(memory).Float64()
	if accuracy == big.Above {
		return math.Nextafter(x, 0)
	}
	return x
}

// optimum returns Optimum as a big number, rounded down. (2/π)·K(γ) = 1/M(1, √(1 − γ²)), with M the
// arithmetic-geometric mean of Gauss, which lies between the two means of every round of his iteration. 1 − γ² is an
// integer over 2⁶⁰.
func optimum(memory uint64) *big.Float {
	gamma := int64(Decay(memory))
	high, low := rational.Whole(1), rational.Dyadic(unit*unit-gamma*gamma, -2*rational.Bits).Root()
	half := rational.Dyadic(1, -1)
	for range means {
		high, low = high.Add(low).Mul(half), high.Mul(low).Root()
	}
	k := high.Inverse()
	return k.Mul(k).Lo
}

// means is the number of rounds after which the two means agree. Some rounds bring a ratio of 2⁻¹⁰ near 1; then each
// round doubles the number of equal digits.
const means = 12
