package printed

import (
	"fmt"
	"math"
	"math/big"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators/coco"
	"oriel/operators/convex"
)

// windowPaper has the constants of [WDP]. None of them is proved.
type windowPaper struct{}

// Scale returns the noise scale of a node: θ = Δ'h/ε for Gamma noise by (11) and (15), σ = √8·Δ'h·ln(2/δ)/ε for
// Gaussian noise by (13) and (16), with Δ' = G. The true sensitivity is that of a contribution, at most 2L.
func (windowPaper) Scale(c coco.Config, m mechanisms.Config) func(levels int) *big.Float {
	facts, _ := mechanisms.FactsOf(m.Name)
	return func(levels int) *big.Float {
		x := dp.Exact(c.GradientBound())
		x.Mul(x, dp.Exact(float64(levels))).Quo(x, dp.Exact(m.Budget.Epsilon))
		if facts.Law == mechanisms.Gaussian {
			x.Mul(x, dp.Root(dp.Exact(8))).Mul(x, dp.Exact(dp.LogUp(2/m.Budget.Delta)))
		}
		return x
	}
}

// NoiseTerm returns C_W as SPEC.md §6 of coco prints it, reading A (a = α = 1/(2ρ²)), with n for the paper's d:
//
//	Gamma  2a·n·log2(W)^1.5·ln(n/β)/ε        Gauss  2a·√n·log2(W)^1.5·ln(1/δ)·√ln(1/β)/ε
//
// C_W does not depend on the sensitivity and is not proved. The proved constants have E in the place of C_W·ρG.
func (windowPaper) NoiseTerm(c coco.Config, m mechanisms.Config) (float64, error) {
	oracle, err := convex.NewLocalOracle(c.Set)
	if err != nil {
		return 0, fmt.Errorf("coco: update llo: %w", err)
	}
	n := float64(c.Set.Dimension())
	a := 1 / (2 * oracle.Ratio() * oracle.Ratio())
	shape := 2 * a * math.Pow(math.Log2(float64(m.Scope.Span())), 1.5) / m.Budget.Epsilon
	facts, _ := mechanisms.FactsOf(m.Name)
	switch {
	case facts.Structure == mechanisms.Tree && facts.Law == mechanisms.Gamma:
		return shape * n * math.Log(n/c.Failure), nil
	case facts.Structure == mechanisms.Tree && facts.Law == mechanisms.Gaussian:
		return shape * math.Sqrt(n) * math.Log(1/m.Budget.Delta) * math.Sqrt(math.Log(1/c.Failure)), nil
	}
	return 0, fmt.Errorf("coco: constants paper: the paper has none for mechanism %q, only for tree-gaussian and tree-gamma", m.Name)
}

// Reach returns C_1 = 26ρ²·G(B + C_W). C_W is the noise term, which does not grow with the batch. For B = 1 the result
// is the printed constant.
func (windowPaper) Reach(ratio, gradient, batch, noise float64) float64 {
	square := float64(ratio * ratio)
	return float64(26 * square * gradient * (batch + noise))
}
