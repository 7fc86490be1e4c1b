package convex

import "errors"

// circulations is the space of differences of two flows: the amount that enters a vertex leaves it, also at the source
// and the sink. The projection of v is v − Aᵀp, where A is the incidence matrix and the potentials p solve AAᵀp = Av,
// an equation with the graph's Laplacian.
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

// Dimension returns edges − vertices + 1, the number of independent cycles. No other equation holds, because each edge
// lies on a path from the source to the sink.
func (c *circulations) Dimension() int { return c.graph.edges() - c.graph.vertices() + 1 }

// Project takes two passes over the edges and one solve with the factor of the Laplacian.
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
