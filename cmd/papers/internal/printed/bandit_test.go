package printed

import (
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
)

// TestPrivateBandit checks the values at T = 10⁴, n = 4, L = 1, ε = 1, δ = 10⁻⁶.
func TestPrivateBandit(t *testing.T) {
	b := dp.Budget{Epsilon: 1, Delta: 1e-6}
	if got := privateBandit(mechanisms.Laplace, 4, 1e4, 1, b); math.Abs(got/3684.14-1) > 1e-5 {
		t.Errorf("λ = %g, want 3684.14", got)
	}
	sigma := 10 * 2 * math.Log(1e4) * math.Log(1e10) * math.Sqrt((1+100.0/4)*math.Log(10004/1e-6))
	if got := privateBandit(mechanisms.Gaussian, 4, 1e4, 1, b); math.Abs(got/sigma-1) > 1e-12 {
		t.Errorf("σ = %g, want %g", got, sigma)
	}
}
