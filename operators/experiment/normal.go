package experiment

import "oriel/operators/elementary"

const (
	rootTwoPi = 2.50662827463100050241576528481104525

	// Up to seriesEnd the code uses a series with at most seriesTerms terms, and beyond it a continued fraction with
	// the given number of quotients.
	seriesEnd   = 3
	seriesTerms = 64
	quotients   = 64
)

// logMixture returns ln(2Φ(x)) + x²/2, where Φ is the standard normal distribution function. It is finite for every
// finite x.
func logMixture(x float64) float64 {
	if x < -seriesEnd {
		return elementary.Log(float64(2 / rootTwoPi * mills(-x)))
	}
	return elementary.Log(1+twiceOdd(x)) + float64(float64(x*x)/2)
}

// twiceOdd returns 2Φ(x) − 1 for x ≥ −3: 2φ(x)·Σ_k x^{2k+1}/(1·3·…·(2k+1)) (Abramowitz and Stegun, Handbook of
// Mathematical Functions, 26.2.11).
func twiceOdd(x float64) float64 {
	density := float64(2 / rootTwoPi * elementary.Exp(-float64(x*x)/2))
	if x > seriesEnd {
		return 1 - float64(density*mills(x))
	}
	sum, term, square := 0.0, x, float64(x*x)
	for k := 3.0; k < 2*seriesTerms; k += 2 {
		sum += term
		term = term * square / k
	}
	return float64(density * sum)
}

// mills returns (1 − Φ(x))/φ(x) for x ≥ 3: 1/(x + 1/(x + 2/(x + 3/(x + …)))) (Abramowitz and Stegun, 26.2.14).
func mills(x float64) float64 {
	tail := x
	for k := float64(quotients); k >= 1; k-- {
		tail = x + k/tail
	}
	return 1 / tail
}

// normal returns Φ(x).
func normal(x float64) float64 {
	if x < -seriesEnd {
		return float64(elementary.Exp(-float64(x*x)/2) / rootTwoPi * mills(-x))
	}
	return (1 + twiceOdd(x)) / 2
}

// quantile returns Φ⁻¹(p) for 0 < p < 1, by bisection.
func quantile(p float64) float64 {
	low, high := -9.0, 9.0
	for range 64 {
		if middle := (low + high) / 2; normal(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
