package convex

import "math"

// Forests is R times the convex hull of the forests of a graph, with one coordinate for each edge: the independence
// polytope of its graphic matroid. It has an interior. The graph need not be connected.
type Forests struct {
	shape
	from, to []int32
	vertices int
	parallel int     // largest number of edges between two vertices
	sets     Subsets // all sets with as many edges as the largest forest
	radius   float64
}

// newForests reads entries in the form of ParseEdge, one for each dimension. Their direction has no meaning. With k
// edges in the largest forest, the diameter is at most R·√min(2k, n): two forests with as little in common as their
// sizes allow.
func newForests(edges []string, n int, radius float64) (Forests, error) {
	from, to, names, err := readEdges(edges, n)
	s := Forests{from: from, to: to, vertices: len(names), radius: radius}
	if err != nil {
		return s, err
	}
	rank, forest, count := 0, newForest(s.vertices), map[[2]int32]int{}
	for edge := range from {
		if forest.join(from[edge], to[edge]) {
			rank++
		}
		pair := [2]int32{min(from[edge], to[edge]), max(from[edge], to[edge])}
		count[pair]++
		s.parallel = max(s.parallel, count[pair])
	}
	s.sets = subsets(n, rank, radius)
	s.shape = shape{"forests", n, float64(radius * math.Sqrt(float64(min(2*rank, n)))), s.sets.maxNorm}
	return s, nil
}

// inner writes the centre of a ball in the set and returns the ball's radius r. All coordinates of the centre are r.
// Within the ball, the coordinates of m edges on p vertices sum to at most r(m + √m) ≤ 2rm, and the set allows R(p −
// 1). With at most q parallel edges, m is at most min(n, qp(p−1)/2). So r = R/2A for the largest A = m/(p − 1).
func (s Forests) inner(centre []float64) float64 {
	densest := 1.0
	for p := 2; p <= s.vertices; p++ {
		own := float64(float64(s.parallel) * float64(p) / 2)
		densest = max(densest, min(float64(len(s.from))/float64(p-1), own))
	}
	r := s.radius / float64(2*densest)
	fill(centre, r)
	return r
}

// settle clips coordinates to [0, R] and reduces the sum to that of the largest forest. It does not correct the
// rounding of sums over smaller sets of edges.
func (s Forests) settle(x []float64) { s.sets.atMost(x) }

func (s Forests) check(x []float64) error { return s.sets.checkAtMost(x) }

func (s Forests) Linear() LinearOracle {
	return newKruskal(s.from, s.to, s.vertices, s.radius, true)
}
