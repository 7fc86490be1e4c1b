package graph

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators/convex"
	"oriel/operators/convex/hull"
)

// maxExactEdges is the largest number of edges for which the inner ball of a flow uses the freedom of each edge,
// because computing it costs a projection for each edge.
const maxExactEdges = 4096

// Inner uses the better of two centres: the flow that divides evenly at each vertex, and the mean of all paths. Both
// are positive on each edge.
func (f Flow) Inner(centre []float64) (float64, error) {
	free, err := f.freedom()
	if err != nil {
		return 0, err
	}
	least := func(x []float64) float64 {
		radius := math.Inf(1)
		for edge, share := range free {
			if share > hull.Narrow {
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
	tangent, err := convex.NewTangent(f)
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
	g, x := f.Graph, make([]float64, f.Dimension())
	paths := make([]float64, g.Vertices())
	paths[len(paths)-1] = 1
	for vertex := len(paths) - 2; vertex >= 0; vertex-- {
		for _, edge := range g.Leaving(vertex) {
			paths[vertex] += paths[g.To[edge]]
		}
	}
	for edge := range x {
		x[edge] = 1
		if paths[0] <= math.MaxFloat64 {
			x[edge] = paths[g.To[edge]]
		}
	}
	f.Settle(x)
	return x
}

// maxTreeEdges is the largest number of edges of a graph for which a ball of trees is computed.
const maxTreeEdges = 128

// Inner returns the ball of the hull of some trees. These are grown from each edge, forwards and backwards in the list.
// If they do not span all directions, it adds trees with one edge exchanged for another. Every direction is a linear
// combination of such exchanges from any tree (J. Edmonds, as at tangent).
func (s Trees) Inner(centre []float64) (float64, error) {
	n := s.Dimension()
	if n > maxTreeEdges {
		return 0, fmt.Errorf("convex: trees of %d edges: a ball in them is computed for %d at most", n, maxTreeEdges)
	}
	tangent, err := convex.NewTangent(s)
	if err != nil || tangent.Dimension() == 0 {
		return 0, errors.Join(err, errors.New("convex: trees: the graph has a single spanning tree"))
	}
	linear, costs := s.Linear(), make([]float64, n)
	var corners [][]float64
	grow := func() {
		tree := make([]float64, n)
		linear.Minimise(tree, costs)
		corners = append(corners, tree)
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
	if space, err := hull.Of(s.Shape, corners).Tangent(); err != nil || space.Dimension() < tangent.Dimension() {
		first := corners[0]
		for out := range n {
			for in := range n {
				if first[out] > 0 && first[in] == 0 { // look for the cheapest tree with edge in and without edge out
					for i, x := range first {
						costs[i] = 2 - x/s.Radius
					}
					costs[in], costs[out] = 0, 3
					grow()
				}
			}
		}
	}
	list := hull.Of(s.Shape, corners)
	list.Start(centre)
	return list.Inner(centre)
}
