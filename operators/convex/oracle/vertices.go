package oracle

import (
	"oriel/operators/convex"
	"oriel/operators/convex/shape"
)

// Vertices is a polytope with numbered vertices, few enough to store a weight for each vertex.
type Vertices interface {
	Dimension() int
	Count() int
	StartWeights(weights []float64) // writes the weights of the starting point; the others are zero before
	// κ of operators/coco/SPEC.md §7.4: moving weight κ·r reaches all points within r.
	Kappa() float64
	Diameter() float64                         // largest distance D of two points
	Cost(id int, c []float64) float64          // cost ⟨v, c⟩ of a vertex
	Add(dst []float64, id int, weight float64) // adds weight·v for a vertex v
	Minimiser(c []float64) int                 // the vertex of least cost
}

// localVertices is the general local oracle, operators/coco/SPEC.md §7.2, with x = Σ λ_i v_i. Different numbers stand
// for different vertices. A vertex of weight zero is not in the support, so a move adds at most one vertex to the
// support.
type localVertices struct {
	polytope Vertices
	weights  []float64 // λ, the weight of each vertex
	costs    []float64 // ⟨v, c⟩ of the vertices in the support, during a move
	order    Descending
	x        []float64
}

// NewVertices returns the general oracle of a polytope with numbered vertices.
func NewVertices(p Vertices) convex.LocalOracle {
	n := p.Count()
	o := &localVertices{
		polytope: p, weights: make([]float64, n), costs: make([]float64, n), order: NewDescending(n),
		x: make([]float64, p.Dimension()),
	}
	p.StartWeights(o.weights)
	o.mix()
	return o
}

func (o *localVertices) Point() []float64 { return o.x }

// Ratio returns ρ = κD: |x−p| = Δ·|mean of the vertices taken − v*| ≤ κ·r·D.
func (o *localVertices) Ratio() float64 {
	return max(1, float64(o.polytope.Kappa()*o.polytope.Diameter()))
}

// Move takes weight Δ = min(κ·r, 1) from the vertices of largest cost and gives it to the vertex of least cost. It
// applies only the fraction α of this change: (1−α)x + αp.
func (o *localVertices) Move(alpha, r float64, c []float64) {
	mass := min(float64(o.polytope.Kappa()*r), 1)
	o.order.Start(o.costs)
	for id, weight := range o.weights {
		if weight > 0 {
			o.costs[id] = o.polytope.Cost(id, c)
			o.order.Add(id)
		}
	}
	o.order.Build()
	left := mass
	for id := o.order.Next(); id >= 0 && left > 0; id = o.order.Next() {
		take := min(o.weights[id], left)
		left -= take
		o.weights[id] -= float64(alpha * take)
	}
	o.weights[o.polytope.Minimiser(c)] += float64(alpha * mass)
	shape.Normalise(o.weights, 1)
	o.mix()
}

// mix sets x = Σ λ_i v_i, so that x and its decomposition never differ.
func (o *localVertices) mix() {
	clear(o.x)
	for id, weight := range o.weights {
		if weight > 0 {
			o.polytope.Add(o.x, id, weight)
		}
	}
}

func (o *localVertices) AppendState(dst []byte) []byte { return AppendFloats(dst, o.weights) }

func (o *localVertices) StateLen() int { return 8 * len(o.weights) }

func (o *localVertices) Restore(state []byte) error {
	if err := restore(o.weights, state, func(v []float64) error { return shape.CheckMix(v, 1) }); err != nil {
		return err
	}
	o.mix()
	return nil
}

// ZeroOne is R times a 0/1 polytope {Ax = b, x ≥ 0}: its vertices have R at some coordinates and 0 elsewhere. Methods
// return a vertex as the list of these coordinates, in memory that the next call may overwrite.
type ZeroOne interface {
	convex.Set
	Total() float64               // R, the coordinate of a vertex that is not 0
	Kappa() float64               // κ of operators/coco/SPEC.md §7.4: moving mass κ·R·r reaches all points within r
	Best(c []float64) []int32     // returns a vertex of least cost
	Worst(c, x []float64) []int32 // returns a vertex of largest cost within the support of x, or nil if there is none
	Settle(x []float64)           // makes x ≥ 0 a point of the set, and removes rounding errors
	Check(x []float64) error      // returns an error if the coordinates do not balance
}

// localZeroOne is the general local oracle, operators/coco/SPEC.md §7.2, without a stored decomposition. It takes the
// vertex of largest cost from x, with as much mass as x contains of this vertex. The rest of x is again a point of the
// set, up to scale, and none of its vertices costs more. Repeating this decomposes x in descending order of cost, and
// the first Δ of mass is what the general form takes. The decomposition is finite, because each vertex that is taken
// makes a coordinate 0. Any decomposition is valid (Garber and Hazan 2013, Lemma 5.3), and this one needs no memory.
type localZeroOne struct {
	State
	set  ZeroOne
	left []float64
}

// NewZeroOne returns the general oracle of a 0/1 polytope.
func NewZeroOne(s ZeroOne) convex.LocalOracle {
	check := func(x []float64) error {
		if err := shape.CheckRange(x, float64(s.Total()*(1+shape.SumTolerance))); err != nil {
			return err
		}
		return s.Check(x)
	}
	return &localZeroOne{NewState(s, check), s, make([]float64, s.Dimension())}
}

// Ratio returns ρ = κD, at least 1.
func (o *localZeroOne) Ratio() float64 { return max(1, float64(o.set.Kappa()*o.set.Diameter())) }

func (o *localZeroOne) Move(alpha, r float64, c []float64) {
	total := o.set.Total()
	mass := min(float64(float64(o.set.Kappa()*r)*total), total)
	if mass == total { // all of x is taken, so the order of vertices does not matter
		for i, v := range o.X {
			o.X[i] = float64((1 - alpha) * v)
		}
	} else {
		o.take(alpha, mass, c)
	}
	for _, i := range o.set.Best(c) {
		o.X[i] += float64(alpha * mass)
	}
	o.set.Settle(o.X)
}

// take removes the share α of the given mass, from the most expensive vertices first.
func (o *localZeroOne) take(alpha, mass float64, c []float64) {
	copy(o.left, o.X)
	for rest := mass; rest > 0; {
		vertex := o.set.Worst(c, o.left)
		if vertex == nil {
			break // rounding has left no vertex in the support
		}
		some := rest
		for _, i := range vertex {
			some = min(some, o.left[i])
		}
		for _, i := range vertex {
			o.left[i] -= some
			o.X[i] = max(0, o.X[i]-float64(alpha*some))
		}
		rest -= some
	}
}
