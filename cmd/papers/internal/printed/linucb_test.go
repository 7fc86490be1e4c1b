package printed

import (
	"math"
	"testing"

	"oriel/mechanisms/dp"
)

// TestContextual checks the paper's constants at n = 1000, d = 5, L̃² = 2, ε = 1, δ = 10⁻⁶, against an independent
// program.
func TestContextual(t *testing.T) {
	b := dp.Budget{Epsilon: 1, Delta: 1e-6}
	near := func(what string, got, want, by float64) {
		t.Helper()
		if math.Abs(got-want) > by {
			t.Errorf("%s is %.9g, want %.9g", what, got, want)
		}
	}
	near("k", freedom(1000, 5, b), 653964, 0)
	near("σ", sigma(1000, 2, b), 403.3495, 5e-5)
	near("µ", contextual{}.Mu("paper", 1000, 5, 2, b), 2*math.Sqrt(11)/403.3495, 1e-8)
	near("µ of Wishart noise", contextual{}.Mu("paper-wishart", 1000, 5, 2, b), math.Sqrt(11.0/653964), 1e-12)
	near("2Υ", contextual{}.Shift("paper", 5, 2, 403.3495*math.Sqrt(11), 1000, 0.05), 2*57016.51, 0.05)
	sd := 2 * math.Sqrt(11*653964)
	mean := contextual{}.Shift("paper-unshifted", 5, 2, sd, 1000, 0.05)
	near("the mean", mean, 2*11*653964, 1e-6)
	near("the shift", mean-contextual{}.Shift("paper-wishart", 5, 2, sd, 1000, 0.05), 14157779.88, 0.01)
}
