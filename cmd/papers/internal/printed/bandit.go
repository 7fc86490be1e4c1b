package printed

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
)

// privateBandit returns the printed noise over T plays. For Laplace noise it is λ = √T·n·L·ln T/ε (Lemma 7 of the paper
// that operators/bandit/SPEC.md names). For Gaussian noise it is σ = T^¼·√n·L·ln T·ln(T/δ)·√((1 + √T/n)·ln((n+T)/δ))/ε
// (Lemma 10).
func privateBandit(law mechanisms.Law, n, plays, lipschitz float64, b dp.Budget) float64 {
	if law == mechanisms.Laplace {
		return math.Sqrt(plays) * n * lipschitz * math.Log(plays) / b.Epsilon
	}
	vectors := (1 + math.Sqrt(plays)/n) * math.Log((n+plays)/b.Delta)
	return math.Pow(plays, 0.25) * math.Sqrt(n) * lipschitz * math.Log(plays) * math.Log(plays/b.Delta) *
		math.Sqrt(vectors) / b.Epsilon
}
