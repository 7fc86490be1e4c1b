package graph

import (
	"errors"
	"slices"

	"oriel/operators/convex"
	"oriel/operators/convex/shape"
)

// circulations is the space of differences of two flows: the amount that enters a vertex leaves it, also at the source
// and the sink. The projection of v is v − Aᵀp, where A is the incidence matrix and the potentials p solve AAᵀp = Av,
// an equation with the graph's Laplacian.
type circulations struct {
	graph      *Graph
	laplacian  *laplacian
	potentials []float64
}

func (f Flow) Tangent() (convex.Tangent, error) {
	l, ok := newLaplacian(f.Graph.Vertices(), f.Graph.From, f.Graph.To)
	if !ok {
		return nil, errors.New("convex: flow: a graph of so many vertices and ways between them that a projection on its circulations costs too much")
	}
	return &circulations{f.Graph, l, make([]float64, f.Graph.Vertices())}, nil
}

// Dimension returns edges − vertices + 1, the number of independent cycles. No other equation holds, because each edge
// lies on a path from the source to the sink.
func (c *circulations) Dimension() int { return c.graph.edges() - c.graph.Vertices() + 1 }

// Project takes two passes over the edges and one solve with the factor of the Laplacian.
func (c *circulations) Project(v []float64) {
	g, p := c.graph, c.potentials
	clear(p)
	for edge, x := range v {
		p[g.To[edge]] += x
		p[g.From[edge]] -= x
	}
	c.laplacian.solve(p)
	for edge := range v {
		v[edge] -= p[g.To[edge]] - p[g.From[edge]]
	}
}

// Coarse has all directions, because the Laplacian costs too much.
func (f Flow) Coarse() convex.Tangent { return shape.Full(f.N) }

// biconnected returns the blocks of a connected graph as lists of edge numbers. Two edges are in one block if a cycle
// contains both (J. Hopcroft and R. Tarjan, Algorithm 447: efficient algorithms for graph manipulation, CACM 16, 1973).
// Parallel edges form a cycle. Every spanning tree has as many edges in a block as the block has vertices, less one.
func biconnected(vertices int, from, to []int32) [][]int32 {
	incident := make([][]int32, vertices)
	for edge := range from {
		incident[from[edge]] = append(incident[from[edge]], int32(edge))
		incident[to[edge]] = append(incident[to[edge]], int32(edge))
	}
	var blocks [][]int32
	var open []int32 // edges visited that belong to no complete block yet
	used, found := make([]bool, len(from)), 0
	number, low := make([]int, vertices), make([]int, vertices) // number gives vertices in the order of visits, from 1
	var visit func(v int32)
	visit = func(v int32) {
		found++
		number[v], low[v] = found, found
		for _, edge := range incident[v] {
			if used[edge] {
				continue
			}
			used[edge] = true
			w, before := from[edge]+to[edge]-v, len(open)
			open = append(open, edge)
			if number[w] > 0 {
				low[v] = min(low[v], number[w])
				continue
			}
			visit(w)
			low[v] = min(low[v], low[w])
			if low[w] >= number[v] {
				block := slices.Sorted(slices.Values(open[before:]))
				blocks, open = append(blocks, block), open[:before]
			}
		}
	}
	visit(0)
	return blocks
}
