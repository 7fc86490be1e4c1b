package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestResiduesAreThePartialFractions compares 1 + ΣR_k/(z − q_k) with Π(z − p_i)/Π(z − q_k), for two to five poles.
func TestResiduesAreThePartialFractions(t *testing.T) {
	for m := 2; m <= 5; m++ {
		d := decoder{order: order("PZPZPZPZPZ"[:2*m])}
		r := d.decode(spread(1e-3, 0.7, m))
		residues := r.Residues()
		for _, z := range []float64{1.1, 2, -0.5, 7} {
			product, sum := 1.0, 1.0
			for k, q := range r.Poles {
				product *= (z - (1 - r.Zeros[k])) / (z - (1 - q))
				sum += residues[k] / (z - (1 - q))
			}
			if math.Abs(sum/product-1) > 1e-9 {
				t.Errorf("%d poles, z = %g: %g, want %g", m, z, sum, product)
			}
		}
	}
}

// TestLossesOfChangedRates moves one rate at a time, as finite differences do. The loss of kept powers must equal the
// loss of fresh ones.
func TestLossesOfChangedRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var kept ages
	x := spread(1e-3, 0.7, 4)
	for step := range 300 {
		x[rng.IntN(len(x))] += 0.01 * rng.NormFloat64()
		d := decoder{order: "PZPZPZPZ"}
		r := d.decode(x)
		if step%2 == 1 { // zeros move, one alone
			r.Zeros[rng.IntN(4)] *= 1 + 1e-4*rng.Float64()
		}
		var fresh ages
		if got, want := kept.loss(r, 50, 0.3), fresh.loss(r, 50, 0.3); got != want {
			t.Fatalf("point %d: %g, want %g", step, got, want)
		}
	}
}
