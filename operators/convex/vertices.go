package convex

// vertices is a polytope with numbered vertices, few enough to store a weight for each vertex.
type vertices interface {
	Dimension() int
	count() int
	start(weights []float64) // writes the weights of the starting point; the others are zero before
	// κ of operators/coco/SPEC.md §7.4: moving weight κ·r reaches all points within r.
	kappa() float64
	Diameter() float64                         // largest distance D of two points
	cost(id int, c []float64) float64          // cost ⟨v, c⟩ of a vertex
	add(dst []float64, id int, weight float64) // adds weight·v for a vertex v
	minimiser(c []float64) int                 // the vertex of least cost
}

// localVertices is the general local oracle, operators/coco/SPEC.md §7.2, with x = Σ λ_i v_i. Different numbers stand
// for different vertices. A vertex of weight zero is not in the support, so a move adds at most one vertex to the
// support.
type localVertices struct {
	polytope vertices
	weights  []float64 // λ, the weight of each vertex
	costs    []float64 // ⟨v, c⟩ of the vertices in the support, during a move
	order    descending
	x        []float64
}

func newLocalVertices(p vertices) *localVertices {
	n := p.count()
	o := &localVertices{
		polytope: p, weights: make([]float64, n), costs: make([]float64, n), order: newDescending(n),
		x: make([]float64, p.Dimension()),
	}
	p.start(o.weights)
	o.mix()
	return o
}

func (o *localVertices) Point() []float64 { return o.x }

// Ratio returns ρ = κD: |x−p| = Δ·|mean of the vertices taken − v*| ≤ κ·r·D.
func (o *localVertices) Ratio() float64 {
	return max(1, float64(o.polytope.kappa()*o.polytope.Diameter()))
}

// Move takes weight Δ = min(κ·r, 1) from the vertices of largest cost and gives it to the vertex of least cost. It
// applies only the fraction α of this change: (1−α)x + αp.
func (o *localVertices) Move(alpha, r float64, c []float64) {
	mass := min(float64(o.polytope.kappa()*r), 1)
	o.order.start(o.costs)
	for id, weight := range o.weights {
		if weight > 0 {
			o.costs[id] = o.polytope.cost(id, c)
			o.order.add(id)
		}
	}
	o.order.build()
	left := mass
	for id := o.order.next(); id >= 0 && left > 0; id = o.order.next() {
		take := min(o.weights[id], left)
		left -= take
		o.weights[id] -= float64(alpha * take)
	}
	o.weights[o.polytope.minimiser(c)] += float64(alpha * mass)
	normalise(o.weights, 1)
	o.mix()
}

// mix sets x = Σ λ_i v_i, so that x and its decomposition never differ.
func (o *localVertices) mix() {
	clear(o.x)
	for id, weight := range o.weights {
		if weight > 0 {
			o.polytope.add(o.x, id, weight)
		}
	}
}

func (o *localVertices) AppendState(dst []byte) []byte { return appendFloats(dst, o.weights) }

func (o *localVertices) StateLen() int { return 8 * len(o.weights) }

func (o *localVertices) Restore(state []byte) error {
	if err := restore(o.weights, state, func(v []float64) error { return checkMix(v, 1) }); err != nil {
		return err
	}
	o.mix()
	return nil
}
