package ball

import (
	"errors"
	"math"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
)

// Simplex is {x ≥ 0, Σx = s}. It has no interior.
type Simplex struct {
	shape.Shape
	Scale float64
}

// NewSimplex requires n ≥ 2.
func NewSimplex(n int, scale float64) (Simplex, error) {
	s := Simplex{shape.New("simplex", n, float64(math.Sqrt(2)*scale), scale), scale}
	if n == 1 {
		return s, errors.New("convex: dimension 1: a simplex of one point leaves nothing to learn")
	}
	return s, nil
}

// Start writes the uniform point: s/n everywhere.
func (s Simplex) Start(dst []float64) { shape.Fill(dst, s.Scale/float64(s.N)) }

func (s Simplex) Settle(x []float64) { shape.Normalise(x, s.Scale) }

// Tangent subtracts the mean, because Σx is constant on the set.
func (s Simplex) Tangent() (convex.Tangent, error) { return shape.Centred{s.N}, nil }

// Minimise writes s·e_j for the smallest c_j, the lowest j among equals.
func (s Simplex) Minimise(dst, c []float64) {
	clear(dst)
	dst[smallest(c)] = s.Scale
}

// Projection returns a projection by sorting and thresholding, with its own scratch space.
func (s Simplex) Projection() convex.Projection {
	return &threshold{s.Scale, oracle.NewDescending(s.N)}
}

// threshold projects to {x ≥ 0, Σx = scale}: x_i ← max(x_i − τ, 0) with τ = (Σ_{i≤k} u_i − scale)/k. Here u is x in
// descending order, and k is the last place with u_k > (Σ_{i≤k} u_i − scale)/k (Duchi and others 2008, figure 1). Only
// the k largest entries are sorted.
type threshold struct {
	scale float64
	order oracle.Descending
}

// Project works on x − max x, which shifts τ by the same amount. Entries above τ then lie in [−scale, 0], so that a
// huge x, as in the first steps of a run, costs no accuracy.
func (p *threshold) Project(dst, x []float64) {
	p.order.All(x)
	first := p.order.Next()
	top := x[first]
	total, k, tau := 0.0, 1.0, -p.scale
	for i := p.order.Next(); i >= 0; i = p.order.Next() {
		u := x[i] - top
		if u <= tau {
			break
		}
		total += u
		k++
		tau = (total - p.scale) / k
	}
	for i, v := range x {
		dst[i] = max(v-top-tau, 0)
	}
	shape.Normalise(dst, p.scale)
}

// LocalOracle returns the direct form of operators/coco/SPEC.md §7.3, without decomposition.
func (s Simplex) LocalOracle() convex.LocalOracle {
	check := func(x []float64) error { return shape.CheckMix(x, s.Scale) }
	o := &localSimplex{simplex: s, State: oracle.NewState(s, check), order: oracle.NewDescending(s.N)}
	s.Settle(o.X)
	return o
}

// localSimplex moves mass m = min(√n·r/2, s) from the coordinates of largest cost to the coordinate of smallest. Any y
// of the simplex with |x−y|₂ ≤ r moves a mass of at most |x−y|₁/2 ≤ √n·r/2, so no y has a lower cost than p. And |x−p|₂
// ≤ √2·m, hence ρ = √(n/2), but at least 1.
type localSimplex struct {
	oracle.State
	simplex Simplex
	order   oracle.Descending
}

func (o *localSimplex) Ratio() float64 { return max(1, math.Sqrt(float64(o.simplex.N)/2)) }

func (o *localSimplex) Move(alpha, r float64, c []float64) {
	mass := min(math.Sqrt(float64(o.simplex.N))*r/2, o.simplex.Scale)
	o.order.Start(c)
	for i, x := range o.X {
		if x > 0 {
			o.order.Add(i)
		}
	}
	o.order.Build()
	left := mass
	for i := o.order.Next(); i >= 0 && left > 0; i = o.order.Next() {
		take := min(o.X[i], left)
		left -= take
		o.X[i] -= float64(alpha * take)
	}
	o.X[smallest(c)] += float64(alpha * mass)
	o.simplex.Settle(o.X)
}

// smallest returns the position of the least value, the lowest position among equals.
func smallest(c []float64) int {
	best := 0
	for i, v := range c {
		if v < c[best] {
			best = i
		}
	}
	return best
}

func (s Simplex) Inner([]float64) (float64, error) {
	n := float64(s.N)
	return s.Scale / math.Sqrt(float64(n*(n-1))), nil
}
