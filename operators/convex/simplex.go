package convex

import "math"

// Simplex is {x ≥ 0, Σx = s}. It has no interior.
type Simplex struct {
	n     int
	scale float64
}

// Name returns simplex.
func (Simplex) Name() string { return "simplex" }

// Dimension returns n.
func (s Simplex) Dimension() int { return s.n }

// Diameter returns √2·s.
func (s Simplex) Diameter() float64 { return float64(math.Sqrt(2) * s.scale) }

// MaxNorm returns s, at a vertex.
func (s Simplex) MaxNorm() float64 { return s.scale }

// Start writes the uniform point: s/n everywhere.
func (s Simplex) Start(dst []float64) {
	for i := range dst {
		dst[i] = s.scale / float64(s.n)
	}
}

// tangent subtracts the mean, because Σx is constant on the set.
func (s Simplex) tangent() (Tangent, error) { return centred{s.n}, nil }

// Minimise writes s·e_j for the smallest c_j, lowest j first.
func (s Simplex) Minimise(dst, c []float64) {
	clear(dst)
	dst[smallest(c)] = s.scale
}

// Projection returns sort and threshold, with its own scratch space.
func (s Simplex) Projection() Projection {
	return &threshold{scale: s.scale, order: newDescending(s.n)}
}

// threshold projects onto {x ≥ 0, Σx = scale}: x_i ← max(x_i − τ, 0) with τ = (Σ_{i≤k} u_i − scale)/k, where u is x in
// descending order and k is the last place with u_k > τ (Duchi and others 2008, figure 1). Only the k largest entries
// are sorted.
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
	o := &localSimplex{simplex: s, x: make([]float64, s.n), order: newDescending(s.n)}
	s.Start(o.x)
	normalise(o.x, s.scale)
	return o
}

// localSimplex moves mass m = min(√n·r/2, s) from the coordinates of largest cost to the coordinate of smallest. Any y
// of the simplex with |x−y|₂ ≤ r moves at most |x−y|₁/2 ≤ √n·r/2, so none is better. And |x−p|₂ ≤ √2·m, hence ρ =
// √(n/2), but at least 1.
type localSimplex struct {
	simplex Simplex
	x       []float64
	order   descending
}

func (o *localSimplex) Point() []float64 { return o.x }

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
	normalise(o.x, o.simplex.scale)
}

func (o *localSimplex) AppendState(dst []byte) []byte { return appendFloats(dst, o.x) }

func (o *localSimplex) StateLen() int { return 8 * o.simplex.n }

func (o *localSimplex) Restore(state []byte) error {
	return restoreMix(o.x, state, o.simplex.scale)
}

// smallest returns the position of the least value, lowest position first.
func smallest(c []float64) int {
	best := 0
	for i, v := range c {
		if v < c[best] {
			best = i
		}
	}
	return best
}
