package convex

import (
	"errors"
	"math"
)

// Simplex is {x ≥ 0, Σx = s}. It has no interior.
type Simplex struct {
	shape
	scale float64
}

// newSimplex requires n ≥ 2.
func newSimplex(n int, scale float64) (Simplex, error) {
	s := Simplex{shape{"simplex", n, float64(math.Sqrt(2) * scale), scale}, scale}
	if n == 1 {
		return s, errors.New("convex: dimension 1: a simplex of one point leaves nothing to learn")
	}
	return s, nil
}

// Start writes the uniform point: s/n everywhere.
func (s Simplex) Start(dst []float64) { fill(dst, s.scale/float64(s.n)) }

func (s Simplex) settle(x []float64) { normalise(x, s.scale) }

// tangent subtracts the mean, because Σx is constant on the set.
func (s Simplex) tangent() (Tangent, error) { return centred{s.n}, nil }

// Minimise writes s·e_j for the smallest c_j, the lowest j among equals.
func (s Simplex) Minimise(dst, c []float64) {
	clear(dst)
	dst[smallest(c)] = s.scale
}

// Projection returns a projection by sorting and thresholding, with its own scratch space.
func (s Simplex) Projection() Projection {
	return &threshold{s.scale, newDescending(s.n)}
}

// threshold projects to {x ≥ 0, Σx = scale}: x_i ← max(x_i − τ, 0) with τ = (Σ_{i≤k} u_i − scale)/k. Here u is x in
// descending order, and k is the last place with u_k > (Σ_{i≤k} u_i − scale)/k (Duchi and others 2008, figure 1). Only
// the k largest entries are sorted.
type threshold struct {
	scale float64
	order descending
}

// Project works on x − max x, which shifts τ by the same amount. Entries above τ then lie in [−scale, 0], so that a
// huge x, as in the first steps of a run, costs no accuracy.
func (p *threshold) Project(dst, x []float64) {
	p.order.all(x)
	first := p.order.next()
	top := x[first]
	total, k, tau := 0.0, 1.0, -p.scale
	for i := p.order.next(); i >= 0; i = p.order.next() {
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
	normalise(dst, p.scale)
}

// LocalOracle returns the direct form of operators/coco/SPEC.md §7.3, without decomposition.
func (s Simplex) LocalOracle() LocalOracle {
	check := func(x []float64) error { return checkMix(x, s.scale) }
	o := &localSimplex{simplex: s, point: newPoint(s, check), order: newDescending(s.n)}
	s.settle(o.x)
	return o
}

// localSimplex moves mass m = min(√n·r/2, s) from the coordinates of largest cost to the coordinate of smallest. Any y
// of the simplex with |x−y|₂ ≤ r moves a mass of at most |x−y|₁/2 ≤ √n·r/2, so no y has a lower cost than p. And |x−p|₂
// ≤ √2·m, hence ρ = √(n/2), but at least 1.
type localSimplex struct {
	point
	simplex Simplex
	order   descending
}

func (o *localSimplex) Ratio() float64 { return max(1, math.Sqrt(float64(o.simplex.n)/2)) }

func (o *localSimplex) Move(alpha, r float64, c []float64) {
	mass := min(math.Sqrt(float64(o.simplex.n))*r/2, o.simplex.scale)
	o.order.start(c)
	for i, x := range o.x {
		if x > 0 {
			o.order.add(i)
		}
	}
	o.order.build()
	left := mass
	for i := o.order.next(); i >= 0 && left > 0; i = o.order.next() {
		take := min(o.x[i], left)
		left -= take
		o.x[i] -= float64(alpha * take)
	}
	o.x[smallest(c)] += float64(alpha * mass)
	o.simplex.settle(o.x)
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
