package printed

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
)

// privateBandit is λ = √T·n·L·ln T/ε of Laplace noise (Lemma 7 of the paper that operators/bandit/SPEC.md names), and
// σ = T^¼·√n·L·ln T·ln(T/δ)·√((1 + √T/n)·ln((n+T)/δ))/ε of Gaussian noise (Lemma 10), T plays.
func privateBandit(law mechanisms.Law, n, plays, lipschitz float64, b dp.Budget) float64 {
	if law == mechanisms.Laplace {
		return math.Sqrt(plays) * n * lipschitz * math.Log(plays) / b.Epsilon
	}
	vectors := (1 + math.Sqrt(plays)/n) * math.Log((n+plays)/b.Delta)
	return math.Pow(plays, 0.25) * math.Sqrt(n) * lipschitz * math.Log(plays) * math.Log(plays/b.Delta) *
		math.Sqrt(vectors) / b.Epsilon
}
