package convex

import (
	"math"
)

// Forests is R times the convex hull of the forests of a graph, a coordinate an edge: the independence polytope of its
// graphic matroid. It has an interior. The graph need not be connected.
type Forests struct {
	from, to []int32
	vertices int
	rank     int // edges of the largest forest
	parallel int // the most edges between two vertices
	radius   float64
}

// newForests reads entries of ParseEdge, whose direction means nothing: an edge a dimension.
func newForests(edges []string, n int, radius float64) (Forests, error) {
	from, to, names, err := readEdges(edges, n)
	s := Forests{from: from, to: to, vertices: len(names), radius: radius}
	if err != nil {
		return s, err
	}
	forest, beside := newForest(s.vertices), map[[2]int32]int{}
	for edge := range from {
		if forest.join(from[edge], to[edge]) {
			s.rank++
		}
		pair := [2]int32{min(from[edge], to[edge]), max(from[edge], to[edge])}
		beside[pair]++
		s.parallel = max(s.parallel, beside[pair])
	}
	return s, nil
}

// Name is forests.
func (Forests) Name() string { return "forests" }

// Dimension is the number of edges.
func (s Forests) Dimension() int { return len(s.from) }

// Diameter is at most R·√min(2k, n), k edges of the largest forest: forests with as little in common as their sizes
// allow.
func (s Forests) Diameter() float64 {
	return float64(s.radius * math.Sqrt(float64(min(2*s.rank, len(s.from)))))
}

// MaxNorm is R√k, at a vertex.
func (s Forests) MaxNorm() float64 { return float64(s.radius * math.Sqrt(float64(s.rank))) }

// Start is 0, the empty forest.
func (Forests) Start(dst []float64) { clear(dst) }

// inner writes the centre of a ball that is in the set and returns its radius. Where all coordinates are r, a ball of
// radius r takes r(m + √m) ≤ 2rm of m edges that p vertices connect, at most min(n, qp(p−1)/2) for q parallel ones, and
// R(p − 1) is allowed: r = R/2A for the largest A = m/(p − 1).
func (s Forests) inner(centre []float64) float64 {
	densest := 1.0
	for p := 2; p <= s.vertices; p++ {
		own := float64(float64(s.parallel) * float64(p) / 2)
		densest = max(densest, min(float64(len(s.from))/float64(p-1), own))
	}
	r := s.radius / float64(2*densest)
	for i := range centre {
		centre[i] = r
	}
	return r
}

// settle brings coordinates to [0, R] and the sum to what the largest forest has. Sums within parts of the graph keep
// the rounding of the mixes that x is made of.
func (s Forests) settle(x []float64) { s.all().atMost(x) }

// all are the sets of as many edges as the largest forest has.
func (s Forests) all() Subsets { return Subsets{len(s.from), s.rank, s.radius} }

func (s Forests) check(at func(int) float64) error { return s.all().checkAtMost(at, 0) }

// LocalOracle is no local one, as that of Trees.
func (s Forests) LocalOracle() LocalOracle { return newFollowing(s) }

// Linear is a linear oracle with memory of its own.
func (s Forests) Linear() LinearOracle {
	return newKruskal(s.from, s.to, s.vertices, s.radius, true)
}
