package moments

import (
	"math"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/sumtest"
)

// exact returns δ(ε) of two contributions when each number gets rounded normal noise of scale s, the larger δ of both
// directions. It enumerates releases up to 5.5 scales of the noise. Releases beyond them would only make δ smaller.
func exact(s float64, x, y []int64, epsilon float64) float64 {
	cell, reach := sumtest.NormalCell(s), int64(math.Ceil(5.5*s))
	var walk func(i int, p, q float64) float64
	walk = func(i int, p, q float64) (delta float64) {
		if i == len(x) {
			return max(0, p-math.Exp(epsilon)*q, q-math.Exp(epsilon)*p)
		}
		for n := -reach; n <= reach; n++ {
			delta += walk(i+1, p*cell(n), q*cell(n+x[i]-y[i]))
		}
		return delta
	}
	return walk(0, 1, 1)
}

// worst returns the largest δ(ε) that any two contributions of a 2×2 matrix have.
func worst(q contribution.Quantiser, r Rows, fine int, s, epsilon float64) float64 {
	leaves := mechtest.Quantised(coarse(fine), q, r.Size(), rows(r, fine))
	most, seen := 0.0, map[[3]int64]bool{} // δ depends only on the absolute values of differences
	for i, x := range leaves {
		for _, y := range leaves[:i] {
			var distances [3]int64
			for k := range x {
				distances[k] = max(x[k]-y[k], y[k]-x[k])
			}
			if !seen[distances] {
				seen[distances] = true
				most = max(most, exact(s, x, y, epsilon))
			}
		}
	}
	return most
}

// TestExactLawOfTwoByTwo checks that δ(ε) of a released 2×2 matrix is within the claim of Gaussian noise for its
// distance, for every pair of contributions, by enumerating releases. δ is at most that of µ = Δ/σ, and somewhere more
// than half of it. With the planted fault that the diagonal has noise of scale σ in place of √2·σ, δ exceeds the claim
// at s = ½. It does not at s = 1, because the 2×2 contributions at the largest distance then have equal diagonals.
func TestExactLawOfTwoByTwo(t *testing.T) {
	for _, label := range []int{MaxLabel, MaxLabel / 2} {
		r, g := Rows{Features: 1, Label: label}, coarse(1)
		near, _ := r.Distances(g)
		// On this coarse lattice rounding is large, so the enumerated distance gives a sharper claim than the declared
		// one.
		enumerated, _ := mechtest.LargestDistances(g, r, r.Size(), rows(r, 1))
		if enumerated > near.Lo {
			t.Fatalf("contributions are √%d apart, claimed √%d", enumerated, near.Lo)
		}
		const s, epsilon = 2, 1
		claim := dp.GaussianDelta(epsilon, math.Sqrt(float64(enumerated))/s)
		// Both signs of the loss are added over disjoint releases, so δ is at most twice the claim.
		got := worst(r, r, 1, s, epsilon)
		if got > 2*claim*(1+1e-9) || got < claim {
			t.Errorf("%+v: δ(%d) = %g, claimed %g", r, epsilon, got, 2*claim)
		}
		bad := worst(fault{Rows: r, plain: true}, r, 1, s, epsilon)
		if label < MaxLabel && bad < 2*claim*(1+1e-3) {
			t.Errorf("%+v: a diagonal of scale σ has δ(%d) = %g, within %g", r, epsilon, bad, 2*claim)
		}
	}
}
