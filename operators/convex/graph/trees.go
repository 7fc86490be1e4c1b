package graph

import (
	"fmt"
	"math"

	"oriel/operators/convex"
	"oriel/operators/convex/choice"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
)

// Trees is R times the spanning tree polytope of a connected graph, with one coordinate for each edge: the base
// polytope of its graphic matroid. A vertex has R at the edges of a spanning tree.
type Trees struct {
	shape.Shape
	From, To []int32
	Vertices int
	sets     choice.Subsets // all sets with as many edges as a spanning tree
	Radius   float64
	start    []float64
}

// startRounds is the number of trees that Start adds to its convex combination.
const startRounds = 32

// NewTrees reads entries in the form of ParseEdge, one for each dimension. Their direction has no meaning. Its errors
// name the position in the list, from 1, and the vertices, which are public. The diameter is an upper bound: two trees
// with as little in common as their sizes allow.
func NewTrees(edges []string, n int, radius float64) (Trees, error) {
	from, to, names, err := readEdges(edges, n)
	s := Trees{From: from, To: to, Vertices: len(names), Radius: radius}
	if err != nil {
		return s, err
	}
	if n < s.Vertices {
		return s, fmt.Errorf("convex: edges: %d for %d vertices: with fewer edges than vertices there is one tree at most",
			n, s.Vertices)
	}
	forest := newForest(s.Vertices)
	for edge := range s.From {
		forest.join(s.From[edge], s.To[edge])
	}
	for vertex, name := range names {
		if forest.root(int32(vertex)) != forest.root(0) {
			return s, fmt.Errorf("convex: edges: no way from %s to %s: a connected graph is wanted", names[0], name)
		}
	}
	s.sets = choice.Uniform(n, s.Vertices-1, radius)
	s.Shape = s.sets.Shape
	s.Kind = "trees"
	s.mix()
	return s, nil
}

// mix computes start by some steps of the conditional gradient method towards the point of least norm, from the first
// tree.
func (s *Trees) mix() {
	n := len(s.From)
	linear, x, v := s.Linear(), make([]float64, n), make([]float64, n)
	linear.Minimise(x, make([]float64, n))
	s.start = x
	for range startRounds {
		linear.Minimise(v, x)
		gap, square := 0.0, 0.0
		for i := range x {
			away := x[i] - v[i]
			gap += float64(x[i] * away)
			square += float64(away * away)
		}
		if !(gap > 0) {
			return
		}
		share := min(1, gap/square)
		for i := range x {
			x[i] = float64((1-share)*x[i]) + float64(share*v[i])
		}
		s.Settle(x)
	}
}

// Start writes a convex combination of at most 33 trees that is close to the point of least norm.
func (s Trees) Start(dst []float64) { copy(dst, s.start) }

// Tangent subtracts the mean of each block of the graph, because all trees have the same number of edges in it. No
// other equation holds (J. Edmonds, Submodular functions, matroids, and certain polyhedra, 1970: the dimension of the
// bases of a matroid is the number of its elements, less its connected components).
func (s Trees) Tangent() (convex.Tangent, error) {
	return shape.Scattered(biconnected(s.Vertices, s.From, s.To)), nil
}

// Settle corrects the sum, and clips coordinates to [0, R]. It does not correct the rounding of sums over smaller sets
// of edges.
func (s Trees) Settle(x []float64) {
	for i, v := range x {
		x[i] = min(v, s.Radius)
	}
	s.sets.Settle(x)
}

func (s Trees) Check(x []float64) error { return s.sets.Check(x) }

func (s Trees) Linear() convex.LinearOracle {
	return newKruskal(s.From, s.To, s.Vertices, s.Radius, false)
}

// kruskal takes edges in the order of rising cost, the first in the list among equals, and skips an edge that closes a
// cycle. This is the greedy algorithm (J. B. Kruskal, Proc. AMS 7, 1956), O(n log n).
type kruskal struct {
	from, to []int32
	radius   float64
	gains    bool // edges whose cost is not negative are never taken
	order    oracle.Descending
	keys     []float64 // scratch: negative costs, −c
	forest   forest
}

func newKruskal(from, to []int32, vertices int, radius float64, gains bool) *kruskal {
	n := len(from)
	return &kruskal{
		from: from, to: to, radius: radius, gains: gains,
		order: oracle.NewDescending(n), keys: make([]float64, n), forest: newForest(vertices),
	}
}

func (o *kruskal) Minimise(dst, c []float64) {
	o.order.Cheapest(o.keys, c)
	clear(dst)
	o.forest.clear()
	for left := len(o.forest.above) - 1; left > 0; {
		edge := o.order.Next()
		if edge < 0 || o.gains && !(c[edge] < 0) {
			return
		}
		if o.forest.join(o.from[edge], o.to[edge]) {
			dst[edge] = o.radius
			left--
		}
	}
}

// forest is a union-find structure over vertices, with union by size and path halving (R. E. Tarjan and J. van Leeuwen,
// JACM 31, 1984).
type forest struct {
	above []int32 // parent of a vertex; for a root, minus the number of vertices in its set
}

func newForest(vertices int) forest {
	f := forest{make([]int32, vertices)}
	f.clear()
	return f
}

func (f forest) clear() {
	for i := range f.above {
		f.above[i] = -1
	}
}

func (f forest) root(v int32) int32 {
	for f.above[v] >= 0 {
		if up := f.above[f.above[v]]; up >= 0 {
			f.above[v] = up
		}
		v = f.above[v]
	}
	return v
}

// join unites the sets of two vertices, and returns whether they were different.
func (f forest) join(a, b int32) bool {
	a, b = f.root(a), f.root(b)
	if a == b {
		return false
	}
	if f.above[a] > f.above[b] { // a has fewer vertices
		a, b = b, a
	}
	f.above[a] += f.above[b]
	f.above[b] = a
	return true
}

// Coarse subtracts the mean of all edges.
func (s Trees) Coarse() convex.Tangent { return shape.Centred{s.N} }

func (s Trees) LocalOracle() convex.LocalOracle { return oracle.Follow(s) }

// Forests is R times the convex hull of the forests of a graph, with one coordinate for each edge: the independence
// polytope of its graphic matroid. It has an interior. The graph need not be connected.
type Forests struct {
	shape.Shape
	From, To []int32
	Vertices int
	parallel int            // largest number of edges between two vertices
	sets     choice.Subsets // all sets with as many edges as the largest forest
	Radius   float64
}

// NewForests reads entries in the form of ParseEdge, one for each dimension. Their direction has no meaning. With k
// edges in the largest forest, the diameter is at most R·√min(2k, n): two forests with as little in common as their
// sizes allow.
func NewForests(edges []string, n int, radius float64) (Forests, error) {
	from, to, names, err := readEdges(edges, n)
	s := Forests{From: from, To: to, Vertices: len(names), Radius: radius}
	if err != nil {
		return s, err
	}
	rank, forest, count := 0, newForest(s.Vertices), map[[2]int32]int{}
	for edge := range from {
		if forest.join(from[edge], to[edge]) {
			rank++
		}
		pair := [2]int32{min(from[edge], to[edge]), max(from[edge], to[edge])}
		count[pair]++
		s.parallel = max(s.parallel, count[pair])
	}
	s.sets = choice.Uniform(n, rank, radius)
	s.Shape = shape.New("forests", n, float64(radius*math.Sqrt(float64(min(2*rank, n)))), s.sets.M)
	return s, nil
}

// Inner writes the centre of a ball in the set and returns the ball's radius r. All coordinates of the centre are r.
// Within the ball, the coordinates of m edges on p vertices sum to at most r(m + √m) ≤ 2rm, and the set allows R(p −
// 1). With at most q parallel edges, m is at most min(n, qp(p−1)/2). So r = R/2A for the largest A = m/(p − 1).
func (s Forests) Inner(centre []float64) (float64, error) {
	densest := 1.0
	for p := 2; p <= s.Vertices; p++ {
		own := float64(float64(s.parallel) * float64(p) / 2)
		densest = max(densest, min(float64(len(s.From))/float64(p-1), own))
	}
	r := s.Radius / float64(2*densest)
	shape.Fill(centre, r)
	return r, nil
}

// Settle clips coordinates to [0, R] and reduces the sum to the largest forest's. It does not correct the
// rounding of sums over smaller sets of edges.
func (s Forests) Settle(x []float64) { s.sets.SettleAtMost(x) }

func (s Forests) Check(x []float64) error { return s.sets.CheckAtMost(x) }

func (s Forests) Linear() convex.LinearOracle {
	return newKruskal(s.From, s.To, s.Vertices, s.Radius, true)
}

func (s Forests) LocalOracle() convex.LocalOracle { return oracle.Follow(s) }
