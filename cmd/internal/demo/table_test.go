package demo

import (
	"math"
	"testing"

	"oriel/mechanisms/dp"
)

// TestExceptionalIsTheTailOfTheLikelihoodRatio checks exceptional by an identity: δ at ε is the probability that the
// likelihood ratio exceeds e^ε, minus e^ε times the probability of the same under the other event (Balle and Wang 2018,
// Theorem 5).
func TestExceptionalIsTheTailOfTheLikelihoodRatio(t *testing.T) {
	for _, mu := range []float64{0.2, 0.7, 2} {
		for _, epsilon := range []float64{0.1, 1, 3} {
			other := math.Erfc((mu/2+epsilon/mu)/math.Sqrt2) / 2
			got, want := exceptional(mu, epsilon)-math.Exp(epsilon)*other, dp.GaussianDelta(epsilon, mu)
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("µ = %g, ε = %g: δ = %g, want %g", mu, epsilon, got, want)
			}
		}
	}
}
