package coco

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators"
	"oriel/operators/convex"
)

// No costs in the range are longer than is said after the projection, also at its ends. Even ones have the root mean
// square that is said, within 6.11 standard errors of the mean of squares.
func TestNormsOfCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, set := range convex.Names() {
		for _, r := range []operators.Range{{Low: 0, High: 1}, {Low: -3, High: -1}, {Low: -2, High: 2}} {
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

// Losses of features say nothing of costs, and a graph that is too large says why.
func TestCostsThatAreNotProjected(t *testing.T) {
	c := sample(t, "box", 3)
	c.Loss = mustLoss(t, "logistic")
	if costs := operators.CostsOf(operator{Config: c}); costs != nil {
		t.Errorf("logistic: %+v", costs)
	}
}
