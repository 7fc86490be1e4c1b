package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
)

// Flow is the set of flows of a fixed amount R from the source of an acyclic graph to its sink, with one coordinate for
// each edge: x ≥ 0, and the amount that enters a vertex leaves it. Its vertices are paths that carry the full amount.
type Flow struct {
	shape.Shape
	Graph  *Graph
	Amount float64
}

// NewFlow requires as many edges as dimensions. With ℓ edges on the longest path, the largest norm is R√ℓ. The diameter
// is R√(2ℓ), or the bound R√n over all n edges if it is smaller. For flows x and y the squares of x − y sum to at most
// R·|x − y|₁, which is at most 2Rℓ·R, and each square is at most R².
func NewFlow(edges []string, n int, amount float64) (Flow, error) {
	g, err := newGraph(edges)
	if err != nil {
		return Flow{}, err
	}
	if g.edges() != n {
		return Flow{}, fmt.Errorf("convex: %d edges: not one for each of %d dimensions", g.edges(), n)
	}
	diameter := float64(amount * math.Sqrt(float64(min(2*g.longest, n))))
	return Flow{shape.New("flow", n, diameter, float64(amount*math.Sqrt(float64(g.longest)))), g, amount}, nil
}

// Start divides the amount that enters a vertex evenly among the edges out of it. It is not the point of least norm,
// because finding that would need a quadratic program.
func (f Flow) Start(dst []float64) {
	shape.Fill(dst, 1)
	f.Settle(dst)
}

// Settle turns any x ≥ 0 into a flow: the amount that enters a vertex leaves it in the proportions of x, or evenly if x
// has nothing there. If x is a flow up to rounding, settle changes x by no more than this rounding. The result balances
// at each vertex to a few ulp.
func (f Flow) Settle(x []float64) {
	g := f.Graph
	for vertex := range g.Vertices() - 1 {
		in, edges, out := 0.0, g.Leaving(vertex), 0.0
		for _, edge := range g.Entering(vertex) {
			in += x[edge]
		}
		if vertex == 0 {
			in = f.Amount
		}
		for _, edge := range edges {
			if x[edge] < shape.Dust*f.Amount {
				x[edge] = 0
			}
			out += x[edge]
		}
		for _, edge := range edges {
			switch {
			case out > 0:
				x[edge] = min(float64(in*(x[edge]/out)), f.Amount)
			default:
				x[edge] = in / float64(len(edges))
			}
		}
	}
}

func (f Flow) Linear() convex.LinearOracle { return f.paths() }

// paths finds least-cost paths in a graph.
type paths struct {
	Flow
	cost []float64 // cost of the best path to each vertex
	path []int32   // edges of the path that was found, from the last to the first
}

func (f Flow) paths() *paths {
	return &paths{Flow: f, cost: make([]float64, f.Graph.Vertices()), path: make([]int32, 0, f.Graph.longest)}
}

// Minimise writes the flow along a shortest path, found in topological order in O(edges). Ties go to the path whose
// last differing edge comes first in the list.
func (p *paths) Minimise(dst, c []float64) {
	p.shortest(c)
	clear(dst)
	for _, edge := range p.path {
		dst[edge] = p.Amount
	}
}

// shortest finds a path of least cost.
func (p *paths) shortest(c []float64) {
	g := p.Graph
	p.cost[0] = 0
	for vertex := 1; vertex < len(p.cost); vertex++ {
		from, to := g.enter[vertex], g.enter[vertex+1]
		tails, edges := g.tails[from:to], g.into[from:to]
		least := p.cost[tails[0]] + c[edges[0]]
		for i := 1; i < len(edges) && i < len(tails); i++ {
			least = min(least, p.cost[tails[i]]+c[edges[i]]) // min compiles to no branch, which would be mispredicted
		}
		p.cost[vertex] = least
	}
	p.trace(func(edge int32) bool { return p.cost[g.From[edge]]+c[edge] == p.cost[g.To[edge]] })
}

// longest finds the path of largest cost among the edges where x is positive, and reports whether there is one.
func (p *paths) longest(c, x []float64) bool {
	g := p.Graph
	p.cost[0] = 0
	for vertex := 1; vertex < len(p.cost); vertex++ {
		most := math.Inf(-1)
		for _, edge := range g.into[g.enter[vertex]:g.enter[vertex+1]] {
			if x[edge] > 0 {
				most = max(most, p.cost[g.From[edge]]+c[edge])
			}
		}
		p.cost[vertex] = most
	}
	if math.IsInf(p.cost[len(p.cost)-1], -1) {
		return false
	}
	p.trace(func(edge int32) bool {
		return x[edge] > 0 && p.cost[g.From[edge]]+c[edge] == p.cost[g.To[edge]]
	})
	return true
}

// trace follows the path back from the sink. At each vertex it takes the first edge that can end a best path to it.
func (p *paths) trace(ends func(edge int32) bool) {
	g := p.Graph
	p.path = p.path[:0]
	for vertex := len(p.cost) - 1; vertex > 0; {
		entering := g.Entering(vertex)
		edge := entering[slices.IndexFunc(entering, ends)]
		p.path = append(p.path, edge)
		vertex = int(g.From[edge])
	}
}

func (p *paths) Total() float64 { return p.Amount }

// Kappa returns √n/R. The constraints x ≥ 0 have rows of norm 1, and a vertex has slack R in each constraint that is
// not tight.
func (p *paths) Kappa() float64 { return math.Sqrt(float64(p.N)) / p.Amount }

func (p *paths) Best(c []float64) []int32 {
	p.shortest(c)
	return p.path
}

func (p *paths) Worst(c, x []float64) []int32 {
	if !p.longest(c, x) {
		return nil
	}
	return p.path
}

// Check checks that vertices balance.
func (f Flow) Check(x []float64) error {
	g, amount := f.Graph, f.Amount
	for vertex := range g.Vertices() - 1 {
		in, out := 0.0, 0.0
		for _, edge := range g.Entering(vertex) {
			in += x[edge]
		}
		if vertex == 0 {
			in = amount
		}
		for _, edge := range g.Leaving(vertex) {
			out += x[edge]
		}
		if !(math.Abs(in-out) <= shape.SumTolerance*amount) {
			return errors.New("convex: state: a vertex that does not balance")
		}
	}
	return nil
}

// LocalOracle returns an oracle that takes flow from the most expensive paths.
func (f Flow) LocalOracle() convex.LocalOracle { return oracle.NewZeroOne(f.paths()) }
