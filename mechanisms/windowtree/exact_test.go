package windowtree

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// exactLosses returns, for each age A of the list, µ(A)²·σ²/Δ² of the event of step i. Only sums are released, and the
// first i+A−1 of them are normal with covariance σ²·|active(s) ∩ active(t)|. Their means differ by Δ from step i on, so
// µ(A)²·σ²/Δ² is dᵀC⁻¹d with d = (0…0 1…1).
func exactLosses(t *testing.T, tree *Tree, i uint64, ages []uint64) []float64 {
	t.Helper()
	last := int(i + ages[len(ages)-1] - 1)
	whole := covariance(tree, last)
	losses := make([]float64, len(ages))
	for k, age := range ages {
		steps := int(i + age - 1)
		d := mat.NewVecDense(steps, nil)
		for now := int(i) - 1; now < steps; now++ {
			d.SetVec(now, 1)
		}
		var factor mat.Cholesky
		if !factor.Factorize(whole.SliceSym(0, steps)) {
			t.Fatal("covariance is singular")
		}
		var solved mat.VecDense
		if err := factor.SolveVecTo(&solved, d); err != nil {
			t.Fatal(err)
		}
		losses[k] = mat.Dot(d, &solved)
	}
	return losses
}

// TestExactLossIsWithinTheClaim compares PROOF.md, Theorems 1 and 2 with the exact µ²σ²/Δ². It must be at most h, or at
// most h − 1 + m(2 − 1/W) for m > 1 windows. The event of step 1 attains h, but events after the first block do not:
// their largest value is 2.66 for W = 16 (h = 5) and 3.15 for W = 64 (h = 7).
func TestExactLossIsWithinTheClaim(t *testing.T) {
	for window, worst := range map[uint64]float64{4: 0, 16: 2.66, 64: 3.15} {
		tree := newTree(t, window, 1, silence{})
		h := float64(Depth(window))
		ages := []uint64{1, window / 2, window, window + 1, 2 * window, 3 * window}
		if window == 64 {
			ages = ages[:3] // later ages have too large matrices
		}
		later := 0.0
		stride := max(1, window/16) // a larger window tests some positions only, among them the first two of a block
		for i := uint64(1); i <= 2*window; i += stride {
			losses := exactLosses(t, tree, i, ages)
			for k, age := range ages {
				if claim, _ := squaresOf(window, window, ceil(age, window)); losses[k] > claim*(1+1e-9) {
					t.Errorf("W=%d: event %d at age %d: µ² = %g, claimed %g", window, i, age, losses[k], claim)
				}
			}
			if i > window {
				later = max(later, losses[2])
			} else if i == 1 && math.Abs(losses[2]-h) > 1e-9 {
				t.Errorf("W=%d: µ² of the first event %g, want %g", window, losses[2], h)
			}
		}
		if worst > 0 && (later > worst+0.005 || window == 16 && later < worst-0.005) {
			t.Errorf("W=%d: worst µ² after the first block %g, want %g", window, later, worst)
		}
	}
}
