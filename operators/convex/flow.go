package convex

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Flow is the set of flows of a fixed amount R from the source of an acyclic graph to its sink, a coordinate an edge:
// x ≥ 0, what enters a vertex leaves it. Its vertices are paths that carry all of it.
type Flow struct {
	graph  *graph
	amount float64
}

// newFlow wants an edge a dimension.
func newFlow(edges []string, n int, amount float64) (Flow, error) {
	g, err := newGraph(edges)
	if err == nil && g.edges() != n {
		err = fmt.Errorf("convex: %d edges: not one for each of %d dimensions", g.edges(), n)
	}
	return Flow{g, amount}, err
}

// Name is flow.
func (Flow) Name() string { return "flow" }

// Dimension is the number of edges.
func (f Flow) Dimension() int { return f.graph.edges() }

// Diameter is R√(2ℓ), ℓ edges on the longest path, or what all edges allow: for flows x and y the squares of x − y sum
// to at most R·|x − y|₁, which is at most 2Rℓ·R, and to at most R² an edge.
func (f Flow) Diameter() float64 {
	return float64(f.amount * math.Sqrt(float64(min(2*f.graph.longest, f.graph.edges()))))
}

// MaxNorm is R√ℓ, of the longest path.
func (f Flow) MaxNorm() float64 { return float64(f.amount * math.Sqrt(float64(f.graph.longest))) }

// Start divides what enters a vertex evenly among the edges out of it. It is no point of least norm: that one is known
// to a quadratic program alone.
func (f Flow) Start(dst []float64) {
	for i := range dst {
		dst[i] = 1
	}
	f.balance(dst)
}

// balance makes a flow of any x ≥ 0: what enters a vertex leaves it in the proportions of x, or evenly where x has
// nothing. It moves x by its rounding if x is a flow up to that, and what it makes balances to some ulp at each
// vertex.
func (f Flow) balance(x []float64) {
	g := f.graph
	for vertex := range g.vertices() - 1 {
		in, edges, out := 0.0, g.leaving(vertex), 0.0
		for _, edge := range g.entering(vertex) {
			in += x[edge]
		}
		if vertex == 0 {
			in = f.amount
		}
		for _, edge := range edges {
			if x[edge] < dust*f.amount {
				x[edge] = 0
			}
			out += x[edge]
		}
		for _, edge := range edges {
			switch {
			case out > 0:
				x[edge] = min(float64(in*(x[edge]/out)), f.amount)
			default:
				x[edge] = in / float64(len(edges))
			}
		}
	}
}

// Linear is a linear oracle with memory of its own.
func (f Flow) Linear() LinearOracle { return f.paths() }

// paths finds paths in a graph.
type paths struct {
	flow Flow
	cost []float64 // by vertex: that of the best path to it
	path []int32   // edges of the path that was found, the last one first
}

func (f Flow) paths() *paths {
	return &paths{flow: f, cost: make([]float64, f.graph.vertices()), path: make([]int32, 0, f.graph.longest)}
}

// Minimise writes the flow along a shortest path, found in topological order: O(edges), and of equal ones the one whose
// last edge that differs is the first in the list.
func (p *paths) Minimise(dst, c []float64) {
	p.shortest(c)
	clear(dst)
	for _, edge := range p.path {
		dst[edge] = p.flow.amount
	}
}

// shortest finds a path of least cost.
func (p *paths) shortest(c []float64) {
	g := p.flow.graph
	p.cost[0] = 0
	for vertex := 1; vertex < len(p.cost); vertex++ {
		from, to := g.enter[vertex], g.enter[vertex+1]
		tails, edges := g.tails[from:to], g.into[from:to]
		least := p.cost[tails[0]] + c[edges[0]]
		for i := 1; i < len(edges) && i < len(tails); i++ {
			least = min(least, p.cost[tails[i]]+c[edges[i]]) // no branch, which half of the time would be a surprise
		}
		p.cost[vertex] = least
	}
	p.trace(func(edge int32) bool { return p.cost[g.from[edge]]+c[edge] == p.cost[g.to[edge]] })
}

// longest finds a path of largest cost among the edges that have some of x, and reports whether there is one.
func (p *paths) longest(c, x []float64) bool {
	g := p.flow.graph
	p.cost[0] = 0
	for vertex := 1; vertex < len(p.cost); vertex++ {
		most := math.Inf(-1)
		for _, edge := range g.into[g.enter[vertex]:g.enter[vertex+1]] {
			if x[edge] > 0 {
				most = max(most, p.cost[g.from[edge]]+c[edge])
			}
		}
		p.cost[vertex] = most
	}
	if math.IsInf(p.cost[len(p.cost)-1], -1) {
		return false
	}
	p.trace(func(edge int32) bool {
		return x[edge] > 0 && p.cost[g.from[edge]]+c[edge] == p.cost[g.to[edge]]
	})
	return true
}

// trace goes back from the sink, by the first edge of each vertex that a best path to it ends with.
func (p *paths) trace(ends func(edge int32) bool) {
	g := p.flow.graph
	p.path = p.path[:0]
	for vertex := len(p.cost) - 1; vertex > 0; {
		entering := g.entering(vertex)
		edge := entering[slices.IndexFunc(entering, ends)]
		p.path = append(p.path, edge)
		vertex = int(g.from[edge])
	}
}

func (p *paths) whole() float64 { return p.flow.amount }

// kappa is √n/R: rows of x ≥ 0 have norm 1, and slack R at vertices.
func (p *paths) kappa() float64 { return math.Sqrt(float64(p.flow.Dimension())) / p.flow.amount }

func (p *paths) best(c []float64) []int32 {
	p.shortest(c)
	return p.path
}

func (p *paths) worst(c, x []float64) []int32 {
	if !p.longest(c, x) {
		return nil
	}
	return p.path
}

func (p *paths) balance(x []float64) { p.flow.balance(x) }

// check wants edges within the amount, and vertices that balance.
func (p *paths) check(at func(i int) float64) error {
	g, amount := p.flow.graph, p.flow.amount
	for vertex := range g.vertices() - 1 {
		in, out := 0.0, 0.0
		for _, edge := range g.entering(vertex) {
			in += at(int(edge))
		}
		if vertex == 0 {
			in = amount
		}
		for _, edge := range g.leaving(vertex) {
			out += at(int(edge))
		}
		if !(math.Abs(in-out) <= sumTolerance*amount) {
			return errors.New("convex: state: a vertex that does not balance")
		}
	}
	return nil
}

// LocalOracle takes flow from the worst paths.
func (f Flow) LocalOracle() LocalOracle { return newLocalParts(f, f.paths()) }
