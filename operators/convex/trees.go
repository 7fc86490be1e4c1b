package convex

import (
	"fmt"
)

// Trees is R times the spanning tree polytope of a connected graph, with one coordinate for each edge: the base
// polytope of its graphic matroid. A vertex has R at the edges of a spanning tree.
type Trees struct {
	shape
	from, to []int32
	vertices int
	sets     Subsets // all sets with as many edges as a spanning tree
	radius   float64
	start    []float64
}

// startRounds is the number of trees that Start adds to its convex combination.
const startRounds = 32

// newTrees reads entries in the form of ParseEdge, one for each dimension. Their direction has no meaning. Its errors
// name the position in the list, from 1, and the vertices, which are public. The diameter is an upper bound: two trees
// with as little in common as their sizes allow.
func newTrees(edges []string, n int, radius float64) (Trees, error) {
	from, to, names, err := readEdges(edges, n)
	s := Trees{from: from, to: to, vertices: len(names), radius: radius}
	if err != nil {
		return s, err
	}
	if n < s.vertices {
		return s, fmt.Errorf("convex: edges: %d for %d vertices: with fewer edges than vertices there is one tree at most",
			n, s.vertices)
	}
	forest := newForest(s.vertices)
	for edge := range s.from {
		forest.join(s.from[edge], s.to[edge])
	}
	for vertex, name := range names {
		if forest.root(int32(vertex)) != forest.root(0) {
			return s, fmt.Errorf("convex: edges: no way from %s to %s: a connected graph is wanted", names[0], name)
		}
	}
	s.sets = subsets(n, s.vertices-1, radius)
	s.shape = s.sets.shape
	s.name = "trees"
	s.mix()
	return s, nil
}

// mix computes start by some steps of the conditional gradient method towards the point of least norm, from the first
// tree.
func (s *Trees) mix() {
	n := len(s.from)
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
		s.settle(x)
	}
}

// Start writes a convex combination of at most 33 trees that is close to the point of least norm.
func (s Trees) Start(dst []float64) { copy(dst, s.start) }

// tangent subtracts the mean of each block of the graph, because all trees have the same number of edges in it. No
// other equation holds (J. Edmonds, Submodular functions, matroids, and certain polyhedra, 1970: the dimension of the
// bases of a matroid is the number of its elements, less its connected components).
func (s Trees) tangent() (Tangent, error) {
	return scattered(biconnected(s.vertices, s.from, s.to)), nil
}

// settle corrects the sum, and clips coordinates to [0, R]. It does not correct the rounding of sums over smaller sets
// of edges.
func (s Trees) settle(x []float64) {
	for i, v := range x {
		x[i] = min(v, s.radius)
	}
	s.sets.settle(x)
}

func (s Trees) check(x []float64) error { return s.sets.check(x) }

func (s Trees) Linear() LinearOracle {
	return newKruskal(s.from, s.to, s.vertices, s.radius, false)
}

// kruskal takes edges in the order of rising cost, the first in the list among equals, and skips an edge that closes a
// cycle. This is the greedy algorithm (J. B. Kruskal, Proc. AMS 7, 1956), O(n log n).
type kruskal struct {
	from, to []int32
	radius   float64
	gains    bool // edges whose cost is not negative are never taken
	order    descending
	keys     []float64 // scratch: negative costs, −c
	forest   forest
}

func newKruskal(from, to []int32, vertices int, radius float64, gains bool) *kruskal {
	n := len(from)
	return &kruskal{
		from: from, to: to, radius: radius, gains: gains,
		order: newDescending(n), keys: make([]float64, n), forest: newForest(vertices),
	}
}

func (o *kruskal) Minimise(dst, c []float64) {
	o.order.cheapest(o.keys, c)
	clear(dst)
	o.forest.clear()
	for left := len(o.forest.above) - 1; left > 0; {
		edge := o.order.next()
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
