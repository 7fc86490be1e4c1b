package coco

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/loss"
)

// TestCanariesPointAlongTheirDirection checks canaries for every loss and set, after various decisions. The weight of a
// canary is at least CanaryFactor times the factor, and so is its gradient's length in units of the clip. The gradient
// must point along u or −u.
func TestCanariesPointAlongTheirDirection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range loss.Names() {
		for _, set := range catalogue.Names() {
			if name == "portfolio" && set != "simplex" ||
				slices.Contains(byOracle, set) {
				continue
			}
			n := 5
			if set == "spectrahedron" {
				n = 4 // the set is a square
			}
			for _, radius := range []float64{0.01, 7} {
				c := sample(t, set, n)
				c.Loss, c.Set, c.Clip = mustLoss(t, name), mustSet(t, set, n, radius), 1.5
				checkCanaries(t, fmt.Sprintf("%s on the %s of radius %g", name, set, radius), c, rng)
			}
		}
	}
}

func checkCanaries(t *testing.T, what string, c Config, rng *rand.Rand) {
	t.Helper()
	projection, err := convex.NewProjection(c.Set)
	if err != nil {
		t.Fatal(err)
	}
	n := c.Set.Dimension()
	params, err := Params{}.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	model, err := operator{Config: c, terms: mechtest.Config(1).Terms}.ReferenceModel(params)
	if err != nil {
		t.Fatal(err)
	}
	u, x := make([]float64, n), make([]float64, n)
	for i := range u {
		u[i] = rng.NormFloat64()
	}
	model.Tangent(u)
	length := norm(u)
	for i := range u {
		u[i] /= length
	}
	model.Begin()
	for range 15 {
		for i := range x {
			x[i] = 20 * rng.NormFloat64()
		}
		projection.Project(x, x)
		model.Observe([]operators.Decision{{Point: x}})
		for _, factor := range []float64{1, 0.25} {
			with, without := model.Canary(u, factor)
			for sign, r := range map[float64]operators.Record{1: with, -1: without} {
				added := make([]float64, n)
				if r.Event.Weight < operators.CanaryFactor*factor || !model.Contribution(added, r) {
					t.Fatalf("%s: weight %g, or no contribution at %v", what, r.Event.Weight, x)
				}
				length := norm(added)
				if length < 0.99*operators.CanaryFactor*c.Clip*factor {
					t.Errorf("%s: a gradient of length %g at %v", what, length, x)
				}
				for i := range added {
					if off := math.Abs(added[i]/length - sign*u[i]); off > 1e-6 {
						t.Fatalf("%s: the canary of sign %g points along %v, want %v", what, sign, added, u)
					}
				}
			}
		}
	}
	if model.Contribution(x, operators.Record{Null: true}) {
		t.Errorf("%s: a null record has a contribution", what)
	}
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum = math.Hypot(sum, x)
	}
	return sum
}
