package coco

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators"
	"oriel/operators/convex/catalogue"
	"oriel/operators/setting"
)

// TestNormsOfCosts checks that projected costs from the range are never longer than Longest, even if all are ends of
// the range. Uniform costs must have the root mean square Usual, within 6.11 standard errors of the mean of squares.
func TestNormsOfCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, set := range catalogue.Names() {
		for _, r := range []setting.Range{{Low: 0, High: 1}, {Low: -3, High: -1}, {Low: -2, High: 2}} {
			c := sample(t, set, 16)
			costs := operator{Config: c}.Costs()
			if costs == nil || costs.Reason != "" {
				t.Fatalf("%s: %+v", set, costs)
			}
			tangent := mustTangent(t, c.Set)
			const trials = 2000
			total, squares := 0.0, 0.0
			for trial := range trials {
				v, ends := make([]float64, 16), make([]float64, 16)
				for i := range v {
					v[i] = r.Low + (r.High-r.Low)*rng.Float64()
					ends[i] = []float64{r.Low, r.High}[trial>>(i%11)&1]
				}
				tangent.Project(v)
				tangent.Project(ends)
				if most := max(floats.Norm(v, 2), floats.Norm(ends, 2)); most > costs.Longest(r)*(1+1e-12) {
					t.Fatalf("%s, %+v: norm %g, said %g at most", set, r, most, costs.Longest(r))
				}
				square := floats.Dot(v, v)
				total += square
				squares += square * square
			}
			mean := total / trials
			want, off := costs.Usual(r)*costs.Usual(r), math.Sqrt((squares/trials-mean*mean)/trials)
			if math.Abs(mean-want) > 6.11*off+1e-12 {
				t.Errorf("%s, %+v: mean square %g, said %g", set, r, mean, want)
			}
			if costs.Longest(r) > costs.Before(r) {
				t.Errorf("%s, %+v: %g after, %g before", set, r, costs.Longest(r), costs.Before(r))
			}
		}
	}
}

// TestCostsThatAreNotProjected checks that losses on features have no description of costs.
func TestCostsThatAreNotProjected(t *testing.T) {
	c := sample(t, "box", 3)
	c.Loss = mustLoss(t, "logistic")
	if costs := operators.CostsOf(operator{Config: c}); costs != nil {
		t.Errorf("logistic: %+v", costs)
	}
}
