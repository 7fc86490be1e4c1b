package dp

import (
	"fmt"
	"math"
)

// PureMu returns the least µ such that every ε-DP mechanism is µ-Gaussian-DP, rounded up: µ = 2Φ⁻¹(e^ε/(1+e^ε)), at
// which the trade-off curve of normal laws touches the corner of randomised response (PROOF.md, Lemma 3). It returns
// +Inf for ε > 790.
func PureMu(epsilon float64) float64 {
	mustBeLoss("PureMu", epsilon)
	switch {
	case epsilon == 0:
		return 0
	case epsilon > 790: // Φ(−tail) > e^−805, so the result stays within its bounds
		return math.Inf(1)
	}
	decay := exponential(newFloat().Neg(exact(epsilon)))
	corner := decay.Quo(decay, newFloat().Add(exact(1), decay))
	rough, _ := corner.Float64()
	_, half := border(0, tail,
		func(half float64) bool { return math.Erfc(half/math.Sqrt2)/2 > rough },
		func(half float64) (bool, float64) {
			return outward(upperTail(exact(half), density(exact(half)))).Cmp(corner) > 0, math.NaN()
		})
	return 2 * half
}

func mustBeLoss(name string, x float64) {
	if !(x >= 0) {
		panic(fmt.Sprintf("BUG: dp: %s of %g: negative or NaN", name, x))
	}
}
