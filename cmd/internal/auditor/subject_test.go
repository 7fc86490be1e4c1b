package auditor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/audit"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// Every configuration has a canary that moves a leaf by the whole sensitivity, whatever was decided before, and whose
// gradient is far longer than the clip with its weight. Without it the weight alone is.
func TestCanaryMovesTheLeafByTheWholeSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, mechanism := range []string{"blt", "tree-laplace"} {
		for _, name := range loss.Names() {
			for _, set := range convex.Names() {
				if name == "portfolio" && set != "simplex" {
					continue
				}
				for _, radius := range []string{"0.01", "7"} {
					a := subject(t, "ORIEL_LOSS="+name, "ORIEL_SET="+set, "ORIEL_RADIUS="+radius, "ORIEL_MECHANISM="+mechanism, "ORIEL_DIMENSION=5")
					what := fmt.Sprintf("%s on the %s of radius %s", name, set, radius)
					for _, u := range [][]float64{a.dense(rng), a.along(4)} {
						with, without, leaves, err := a.pair(u)
						if err != nil {
							t.Fatal(err)
						}
						if d := (audit.Canary{With: leaves[0], Without: leaves[1]}).Distance(); math.Abs(d-3) > 1e-6 {
							t.Errorf("%s: leaves are %g apart, want 3", what, d)
						}
						checkCanary(t, what, a, with, leaves[0], rng)
						checkCanary(t, what, a, without, leaves[1], rng)
					}
				}
			}
		}
	}
}

func checkCanary(t *testing.T, what string, a *Subject, r operators.Record, leaf []float64, rng *rand.Rand) {
	t.Helper()
	projection, err := convex.NewProjection(a.operator.Set)
	if err != nil {
		t.Fatal(err)
	}
	x, gradient, units, other := make([]float64, 5), make([]float64, 5), make([]int64, 5), make([]float64, 5)
	for range 15 {
		for i := range x {
			x[i] = 20 * rng.NormFloat64()
		}
		projection.Project(x, x)
		if r.Event.Weight < beyond || !a.operator.Loss.Gradient(gradient, x, r.Event) {
			t.Fatalf("%s: weight %g, or no gradient at %v", what, r.Event.Weight, x)
		}
		a.operator.Set.Tangent(gradient)
		length := 0.0
		for _, g := range gradient {
			length = math.Hypot(length, g)
		}
		if length < 0.99*beyond*a.mechanism.Clip {
			t.Errorf("%s: a gradient of length %g at %v", what, length, x)
		}
		// The auditor's own leaf is the machine's, but for the last unit.
		a.plan.Grid.Quantise(units, gradient)
		if !a.leaf(other, x, r) {
			t.Errorf("%s: no leaf at %v", what, x)
		}
		for i, q := range units {
			if off := math.Abs(float64(q)*a.plan.Grid.Unit() - leaf[i]); off > 4*a.plan.Grid.Unit() {
				t.Errorf("%s: leaf %v at %v, want %v", what, units, x, leaf)
				break
			}
			if off := math.Abs(float64(q)*a.plan.Grid.Unit() - other[i]); off > a.plan.Grid.Unit() {
				t.Errorf("%s: leaf %v at %v, the auditor's is %v", what, units, x, other)
				break
			}
		}
	}
}
