package convex

import "errors"

// circulations are the differences of two flows: what enters a vertex leaves it, at the source and the sink too. The
// projection of v is v − Aᵀp for the incidence matrix A and the potentials p of AAᵀp = Av, the Laplacian's.
type circulations struct {
	graph      *graph
	laplacian  *laplacian
	potentials []float64
}

func (f Flow) tangent() (Tangent, error) {
	l, ok := newLaplacian(f.graph.vertices(), f.graph.from, f.graph.to)
	if !ok {
		return nil, errors.New("convex: flow: a graph of so many vertices and ways between them that a projection on its circulations costs too much")
	}
	return &circulations{f.graph, l, make([]float64, f.graph.vertices())}, nil
}

// Dimension is edges − vertices + 1, the cycles that a spanning tree leaves: each edge lies on a path from the source
// to the sink, so that no other equation holds.
func (c *circulations) Dimension() int { return c.graph.edges() - c.graph.vertices() + 1 }

// Project costs two passes over the edges and one over the factor.
func (c *circulations) Project(v []float64) {
	g, p := c.graph, c.potentials
	clear(p)
	for edge, x := range v {
		p[g.to[edge]] += x
		p[g.from[edge]] -= x
	}
	c.laplacian.solve(p)
	for edge := range v {
		v[edge] -= p[g.to[edge]] - p[g.from[edge]]
	}
}
