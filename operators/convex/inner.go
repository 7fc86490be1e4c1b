package convex

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators/moments"
)

// maxExactEdges is the largest number of edges for which the inner ball of a flow uses the freedom of each edge,
// because computing it costs a projection for each edge.
const maxExactEdges = 4096

// Inner writes the centre of a ball of the set's own dimension that lies in the set, and returns its radius. The ball
// is the largest one about its centre, except for trees and vertices, because their faces are not known.
//
// A face ⟨a, x⟩ ≤ b is at distance (b − ⟨a, c⟩)/|Pa| from a centre c, where P is the projection onto the set's tangent
// space. A ball that reaches no face is in the set. If faces are bounds of coordinates, |Pe_i|² is 1 − 1/n for vectors
// with a fixed sum, and (1 − 1/k)² for the k × k matrices with fixed row and column sums.
func Inner(s Set, centre []float64) (radius float64, err error) {
	s.Start(centre)
	n := float64(s.Dimension())
	switch s := s.(type) {
	case Ball:
		return s.radius, nil
	case Box:
		return s.inner(), nil
	case L1Ball: // because |x|₁ ≤ √n·|x|₂
		return s.radius / math.Sqrt(n), nil
	case TraceNorm: // because k singular values sum to at most √k times their norm
		return s.radius / math.Sqrt(float64(min(s.rows, s.columns))), nil
	case Simplex:
		return s.scale / math.Sqrt(float64(n*(n-1))), nil
	case Partition: // because each face belongs to one block
		radius = math.Inf(1)
		for _, b := range s.blocks {
			radius = min(radius, b.inner())
		}
		return radius, nil
	case Matching:
		return s.amount / float64(s.side-1), nil
	case Spectrahedron: // because eigenvalues of a symmetric Y of trace 0 are at least −|Y|·√(1 − 1/m)
		m := float64(s.side)
		return s.trace / math.Sqrt(float64(m*(m-1))), nil
	case Ranking:
		return s.inner(), nil
	case Flow:
		return s.inner(centre)
	case Trees:
		return s.inner(centre)
	case AtMost:
		return s.inner(centre), nil
	case Forests:
		return s.inner(centre), nil
	case Hull:
		return s.inner()
	}
	return 0, errors.New("convex: set " + s.Name() + ": no ball in it is known")
}

// inner returns the radius about the centre kR/n: the distance of kR/n from 0 or R, whichever is nearer, divided by √(1
// − 1/n).
func (s Subsets) inner() float64 {
	n := float64(s.n)
	return float64(s.radius*float64(min(s.pick, s.n-s.pick))) / math.Sqrt(float64(n*(n-1)))
}

// inner returns the least distance, over all j, from the centre to a face on which j coordinates sum to the first j
// place values. The distance is the slack of this sum at the centre, divided by √(j(n − j)/n), the norm of the face's
// projected normal.
func (s Ranking) inner() float64 {
	n := float64(s.n)
	radius, first, mean := math.Inf(1), 0.0, s.total/n
	for i, value := range s.values[:len(s.values)-1] {
		first += value
		j := float64(i + 1)
		radius = min(radius, (first-float64(j*mean))/math.Sqrt(float64(j*(n-j))/n))
	}
	return radius
}

// inner uses the better of two centres: the flow that divides evenly at each vertex, and the mean of all paths. Both
// are positive on each edge.
func (f Flow) inner(centre []float64) (float64, error) {
	free, err := f.freedom()
	if err != nil {
		return 0, err
	}
	least := func(x []float64) float64 {
		radius := math.Inf(1)
		for edge, share := range free {
			if share > narrow {
				radius = min(radius, x[edge]/math.Sqrt(share))
			}
		}
		return radius
	}
	paths := f.meanPath()
	even, mean := least(centre), least(paths)
	if mean > even {
		copy(centre, paths)
	}
	if radius := max(even, mean); radius > 0 && !math.IsInf(radius, 1) {
		return radius, nil
	}
	return 0, errors.New("convex: flow: no ball lies in the set: the graph has a single path, or far too many")
}

// freedom returns |Pe|² for the unit vector e of each edge. It is 0 if all flows have the same amount there. For many
// edges it returns the upper bound 1.
func (f Flow) freedom() ([]float64, error) {
	n := f.Dimension()
	free, unit := make([]float64, n), make([]float64, n)
	tangent, err := NewTangent(f)
	if err != nil {
		return nil, err
	}
	for edge := range free {
		if free[edge] = 1; n <= maxExactEdges {
			clear(unit)
			unit[edge] = 1
			tangent.Project(unit)
			free[edge] = unit[edge]
		}
	}
	return free, nil
}

// meanPath returns the uniform mean of all paths: at each vertex the flow divides in proportion to the numbers of paths
// from the next vertices to the sink.
func (f Flow) meanPath() []float64 {
	g, x := f.graph, make([]float64, f.Dimension())
	paths := make([]float64, g.vertices())
	paths[len(paths)-1] = 1
	for vertex := len(paths) - 2; vertex >= 0; vertex-- {
		for _, edge := range g.leaving(vertex) {
			paths[vertex] += paths[g.to[edge]]
		}
	}
	for edge := range x {
		x[edge] = 1
		if paths[0] <= math.MaxFloat64 {
			x[edge] = paths[g.to[edge]]
		}
	}
	f.settle(x)
	return x
}

// maxTreeEdges is the largest number of edges of a graph for which a ball of trees is computed.
const maxTreeEdges = 128

// inner returns the ball of the hull of some trees. These are grown from each edge, forwards and backwards in the list.
// If they do not span all directions, it adds trees with one edge exchanged for another. Every direction is a linear
// combination of such exchanges from any tree (J. Edmonds, as at tangent).
func (s Trees) inner(centre []float64) (float64, error) {
	n := s.Dimension()
	if n > maxTreeEdges {
		return 0, fmt.Errorf("convex: trees of %d edges: a ball in them is computed for %d at most", n, maxTreeEdges)
	}
	tangent, err := NewTangent(s)
	if err != nil || tangent.Dimension() == 0 {
		return 0, errors.Join(err, errors.New("convex: trees: the graph has a single spanning tree"))
	}
	linear, costs := s.Linear(), make([]float64, n)
	var list Hull
	grow := func() {
		tree := make([]float64, n)
		linear.Minimise(tree, costs)
		list.corners = append(list.corners, tree)
	}
	for first := range n {
		for i := range n {
			costs[(first+i)%n] = float64(i)
		}
		grow()
		for i := range n {
			costs[(first+n-i)%n] = float64(i)
		}
		grow()
	}
	list.shape = s.shape
	if space, err := list.tangent(); err != nil || space.Dimension() < tangent.Dimension() {
		first := list.corners[0]
		for out := range n {
			for in := range n {
				if first[out] > 0 && first[in] == 0 { // look for the cheapest tree with edge in and without edge out
					for i, x := range first {
						costs[i] = 2 - x/s.radius
					}
					costs[in], costs[out] = 0, 3
					grow()
				}
			}
		}
	}
	list.Start(centre)
	return list.inner()
}

// inner uses the mean of the points as centre. Let x_i be the vector from the centre to a point, and G = Σ x_i·x_iᵀ.
// The mean changes by y if the weight 1/N of each point changes by ⟨x_i, G⁻¹y⟩. No weight becomes negative as long as
// |y| ≤ 1/(N·max|G⁻¹x_i|).
func (h Hull) inner() (float64, error) {
	tangent, err := h.tangent()
	if err != nil {
		return 0, err
	}
	m := tangent.Dimension()
	if m == 0 || m > maxSolved {
		return 0, fmt.Errorf("convex: vertices: of %d dimensions; a ball in them is computed for 1 to %d", m, maxSolved)
	}
	middle := make([]float64, h.Dimension())
	h.Start(middle)
	points, g := make([][]float64, len(h.corners)), moments.Symmetric{Size: m, Values: make([]float64, m*(m+1)/2)}
	for i, corner := range h.corners {
		x := make([]float64, len(corner))
		for j, v := range corner {
			x[j] = (v - middle[j]) / h.diameter
		}
		if flat, ok := tangent.(*span); ok {
			x = flat.along(x)
		}
		points[i] = x
		at := 0
		for j, a := range x {
			for _, b := range x[j:] {
				g.Values[at] += float64(a * b)
				at++
			}
		}
	}
	factor := moments.NewCholesky(m)
	if !factor.Factor(g, 1, 0) {
		return 0, errors.New("convex: vertices: too flat for a ball in them")
	}
	longest := 0.0
	for _, x := range points {
		factor.Solve(x, x)
		longest = max(longest, length(x, nil))
	}
	return h.diameter / float64(float64(len(h.corners))*longest), nil
}

// along returns the coordinates of v in the basis of the span.
func (s *span) along(v []float64) []float64 {
	x := make([]float64, len(s.basis))
	for k, b := range s.basis {
		x[k] = inner(v, b)
	}
	return x
}

// maxSolved is the largest dimension of a system of equations.
const maxSolved = 512
