package bound

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// binomialTail is P(Binomial(n, p) ≥ k), term by term.
func binomialTail(k, n int, p float64) float64 {
	sum := 0.0
	for i := k; i <= n; i++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

// TestLowerIsTheExactLimit checks that the tail at the limit is α (Clopper and Pearson 1934), and that the limit is
// never above the exact one.
func TestLowerIsTheExactLimit(t *testing.T) {
	for _, n := range []int{1, 2, 7, 50, 1000, 20_000} {
		for _, k := range []int{1, n/3 + 1, n / 2, n - 1, n} {
			for _, alpha := range []float64{0.5, 0.05, 1e-4, 1e-9} {
				if k < 1 {
					continue
				}
				p := Lower(k, n, alpha)
				if tail := binomialTail(k, n, p); math.Abs(tail/alpha-1) > 1e-4 {
					t.Errorf("%d of %d at %g: limit %g, whose tail is %g", k, n, alpha, p, tail)
				}
			}
		}
	}
	// From the paper's table: 10 successes of 10 at 0.025.
	if p := Lower(10, 10, 0.025); math.Abs(p-0.6915) > 5e-5 {
		t.Errorf("10 of 10 at 0.025: %g", p)
	}
	for _, k := range []int{0, -3} {
		if Lower(k, 10, 0.1) != 0 {
			t.Errorf("%d of 10: not 0", k)
		}
	}
	if Lower(0, 0, 0.1) != 0 {
		t.Error("no trials: not 0")
	}
}

// TestLowerCovers checks that the probability of a limit above the true rate, summed over all possible counts, is at
// most α.
func TestLowerCovers(t *testing.T) {
	for _, n := range []int{5, 40, 300} {
		for _, p := range []float64{0.01, 0.3, 0.5, 0.731, 0.99} {
			for _, alpha := range []float64{0.1, 0.001} {
				wrong := 0.0
				for k := range n + 1 {
					if Lower(k, n, alpha) > p {
						wrong = binomialTail(k, n, p)
						break
					}
				}
				if wrong > alpha {
					t.Errorf("n = %d, rate %g: wrong with probability %g, stated %g", n, p, wrong, alpha)
				}
			}
		}
	}
}

// TestMuBoundIsOfTheTradeOffCurve gives Mu the best guesses against a µ-GDP mechanism, which are right with probability
// Φ(µ/2). The bound must exceed µ with probability at most α, and tend to µ.
func TestMuBoundIsOfTheTradeOffCurve(t *testing.T) {
	for _, mu := range []float64{0.2, 1, 3} {
		const n = 1_000_000
		right := int(n * distuv.UnitNormal.CDF(mu/2))
		if got := Mu(right, n, 0.01); got > mu || got < 0.95*mu {
			t.Errorf("µ = %g: bound %g", mu, got)
		}
	}
	if Mu(40, 100, 0.01) != 0 {
		t.Error("fewer right guesses than a coin's give a bound")
	}
}

// epsilonDeltaGuess makes the best guess possible under (ε, δ): with probability δ it knows the coin, otherwise it sees
// randomised response.
func TestEpsilonBoundAllowsForDelta(t *testing.T) {
	const n, alpha = 200, 0.01
	for _, epsilon := range []float64{0.5, 1, 3} {
		p := 1 / (1 + math.Exp(-epsilon))
		for _, delta := range []float64{0, 1e-6, 0.01, 0.2} {
			rate := delta + (1-delta)*p
			wrong := 0.0
			for k := range n + 1 {
				if Epsilon(k, n, n, delta, alpha) > epsilon {
					wrong = binomialTail(k, n, rate)
					break
				}
			}
			if wrong > alpha {
				t.Errorf("ε = %g, δ = %g: wrong with probability %g, stated %g", epsilon, delta, wrong, alpha)
			}
		}
	}
	if with, without := Epsilon(180, n, n, 0.01, alpha), Epsilon(180, n, n, 0, alpha); with >= without {
		t.Errorf("δ = 0.01 is worth nothing: %g, %g", with, without)
	}
	if Epsilon(5, n, n, 0.5, alpha) != 0 {
		t.Error("all right guesses may have been revealed: not 0")
	}
}

// TestEpsilonAboveIsOfEpsilon checks that EpsilonAbove agrees with Epsilon, which uses bisection, except within the
// 2⁻³⁰ by which a limit is rounded down.
func TestEpsilonAboveIsOfEpsilon(t *testing.T) {
	for _, delta := range []float64{0, 1e-6, 0.01} {
		for _, r := range []int{1, 30, 400, 20_000} {
			for _, k := range []int{0, r / 2, r * 9 / 10, r - 1, r} {
				at := Epsilon(k, r, 2*r, delta, 1e-3)
				if EpsilonAbove(at+1e-5, k, r, 2*r, delta, 1e-3) || at > 1e-5 && !EpsilonAbove(at-1e-5, k, r, 2*r, delta, 1e-3) {
					t.Errorf("%d of %d, δ = %g: the bound is %g", k, r, delta, at)
				}
			}
		}
	}
}
