package catalogue

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"oriel/operators/convex"
	"oriel/operators/convex/ball"
	"oriel/operators/convex/choice"
	"oriel/operators/convex/graph"
	"oriel/operators/convex/shape"
)

func mustParse(t testing.TB, name string, n int, radius float64) convex.Set {
	t.Helper()
	spec := Spec{Name: name, Dimension: n, Radius: radius}
	switch name {
	case "subsets", "subsets-at-most":
		spec.Pick = max(1, n/3)
	case "partition", "partition-at-most":
		spec.Blocks = blocksOf(n)
	case "vertices":
		rng := rand.New(rand.NewPCG(uint64(n), 4))
		for range 2*n + 1 {
			spec.Corners = append(spec.Corners, strings.Trim(fmt.Sprint(normal(rng, n, 1)), "[]"))
		}
	case "ranking":
		spec.Places = placesOf(n)
	case "trees", "forests":
		spec.Edges = wheel(n)
	case "flow":
		spec.Edges = ladder(n)
	case "spectrahedron":
		side := max(2, int(math.Sqrt(float64(n))))
		spec.Dimension = side * side
	case "trace-norm":
		spec.Rows = 2
		spec.Dimension = max(4, n-n%2)
	}
	s, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func normal(rng *rand.Rand, n int, scale float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = scale * rng.NormFloat64()
	}
	return v
}

// permutations yields all orders of 0 to k−1.
func permutations(k int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		order := make([]int, k)
		for i := range order {
			order[i] = i
		}
		var rest func(at int) bool
		rest = func(at int) bool {
			if at == k {
				return yield(order)
			}
			for i := at; i < k; i++ {
				order[at], order[i] = order[i], order[at]
				if !rest(at + 1) {
					return false
				}
				order[at], order[i] = order[i], order[at]
			}
			return true
		}
		rest(0)
	}
}

// blocksOf returns two blocks, or one if there are few coordinates.
func blocksOf(n int) []string {
	if n < 4 {
		return []string{fmt.Sprintf("%d:1", n)}
	}
	return []string{"2:1", fmt.Sprintf("%d:%d", n-2, (n-1)/2)}
}

// placesOf returns place values: two equal ones, some that fall and, with many coordinates, some zeros.
func placesOf(n int) []string {
	return []string{"1", "1", "0.5", "0.25", "0.125"}[:max(1, min(n-1, 5))]
}

// wheel returns a random tree on n/2 + 1 vertices with random chords, n edges in all.
func wheel(n int) (edges []string) {
	rng, vertices := rand.New(rand.NewPCG(uint64(n), 6)), n/2+1
	for i := range n {
		from, to := rng.IntN(max(1, i)), i+1
		if to >= vertices {
			from = rng.IntN(vertices)
			to = (from + 1 + rng.IntN(vertices-1)) % vertices
		}
		edges = append(edges, fmt.Sprintf("v%d>v%d", from, to))
	}
	rng.Shuffle(n, func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return edges
}

// ladder returns a chain of n/2 edges followed by random chords.
func ladder(n int) (edges []string) {
	rng, chain := rand.New(rand.NewPCG(uint64(n), 3)), (n+1)/2
	for i := range n {
		from, to := i, i+1
		if i >= chain {
			from = rng.IntN(chain)
			to = from + 1 + rng.IntN(chain-from)
		}
		edges = append(edges, fmt.Sprintf("v%d>v%d", from, to))
	}
	rng.Shuffle(n, func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return edges
}

// excess returns by how much x violates the constraints of its set, relative to the radius.
func excess(s convex.Set, x []float64) float64 {
	norm1, norm2, largest, least, total := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for _, v := range x {
		norm1 += math.Abs(v)
		norm2 += v * v
		largest = max(largest, math.Abs(v))
		least = min(least, v)
		total += v
	}
	switch s := s.(type) {
	case ball.L2:
		return math.Sqrt(norm2)/s.Radius - 1
	case ball.L1:
		return norm1/s.Radius - 1
	case ball.Simplex:
		return max(math.Abs(total/s.Scale-1), -least*math.MaxFloat64)
	case ball.Box:
		off := math.Inf(-1)
		for i, v := range x {
			off = max(off, (v-s.High[i])/s.D, (s.Low[i]-v)/s.D)
		}
		return off
	case choice.Subsets:
		return max(math.Abs(total/s.Total()-1), largest/s.Radius-1, -least*math.MaxFloat64)
	case choice.Partition:
		off := 0.0
		s.Each(func(at int, b choice.Subsets) { off = max(off, excess(b, x[at:at+b.N])) })
		return off
	case choice.Ranking:
		off, places, sorted := math.Abs(total/s.Total-1), 0.0, slices.Sorted(slices.Values(x))
		for i := range x { // any i+1 items sum to at most the first i+1 places
			places += s.Values[i] - sorted[len(x)-1-i]
			off = max(off, -places/s.Values[0])
		}
		return off
	case graph.Trees:
		off := max(math.Abs(total/float64(s.Radius*float64(s.Vertices-1))-1), -least*math.MaxFloat64)
		return max(off, excessWithin(s.From, s.To, s.Vertices, s.Radius, x))
	case graph.Forests:
		return max(-least*math.MaxFloat64, excessWithin(s.From, s.To, s.Vertices, s.Radius, x))
	case choice.AtMost:
		off := max(largest/s.Bases.Radius-1, -least*math.MaxFloat64)
		s.Bases.Each(func(at int, b choice.Subsets) { off = max(off, shape.Sum(x[at:at+b.N])/b.Total()-1) })
		return off
	case ball.Spectrahedron:
		var eigen mat.EigenSym
		if !eigen.Factorize(mat.NewSymDense(s.Side, x), false) {
			return math.Inf(1)
		}
		off, trace := 0.0, 0.0
		for k, value := range eigen.Values(nil) {
			off, trace = max(off, -value/s.Trace), trace+value
			for i := range k {
				off = max(off, math.Abs(x[i*s.Side+k]-x[k*s.Side+i])/s.Trace)
			}
		}
		return max(off, math.Abs(trace/s.Trace-1))
	case ball.TraceNorm:
		var svd mat.SVD
		if !svd.Factorize(mat.NewDense(s.Rows, s.Columns, x), mat.SVDNone) {
			return math.Inf(1)
		}
		sum := 0.0
		for _, value := range svd.Values(nil) {
			sum += value
		}
		return sum/s.Radius - 1
	case choice.Matching:
		off := max(largest/s.Amount-1, -least*math.MaxFloat64)
		for i := range s.Side {
			row, column := 0.0, 0.0
			for j := range s.Side {
				row, column = row+x[i*s.Side+j], column+x[j*s.Side+i]
			}
			off = max(off, math.Abs(row/s.Amount-1), math.Abs(column/s.Amount-1))
		}
		return off
	case graph.Flow:
		off := max(largest/s.Amount-1, -least*math.MaxFloat64)
		for vertex := range s.Graph.Vertices() - 1 {
			in, out := 0.0, 0.0
			if vertex == 0 {
				in = s.Amount
			}
			for _, edge := range s.Graph.Entering(vertex) {
				in += x[edge]
			}
			for _, edge := range s.Graph.Leaving(vertex) {
				out += x[edge]
			}
			off = max(off, math.Abs(in-out)/s.Amount)
		}
		return off
	}
	panic("unknown set")
}

// excessWithin returns by how much the edges within a set of vertices exceed the amount of a spanning tree on these
// vertices, the largest over all sets.
func excessWithin(from, to []int32, vertices int, radius float64, x []float64) (off float64) {
	for some := range 1 << vertices {
		within := 0.0
		for edge, v := range x {
			if some>>from[edge]&1 == 1 && some>>to[edge]&1 == 1 {
				within += v
			}
		}
		off = max(off, within/radius-max(0, float64(bits.OnesCount(uint(some))-1)))
	}
	return off
}

// corners lists the vertices of a polytope of few dimensions.
func corners(s convex.Set) [][]float64 {
	var list [][]float64
	n := s.Dimension()
	switch s := s.(type) {
	case ball.Spectrahedron, ball.TraceNorm: // random vertices, because a set of matrices has infinitely many
		rng := rand.New(rand.NewPCG(uint64(n), 8))
		for range 200 {
			list = append(list, somewhere(rng, s))
		}
	case ball.Simplex:
		for i := range n {
			v := make([]float64, n)
			v[i] = s.Scale
			list = append(list, v)
		}
	case ball.L1:
		for i := range 2 * n {
			v := make([]float64, n)
			v[i/2] = s.Radius * float64(1-i%2*2)
			list = append(list, v)
		}
	case choice.Subsets:
		for mask := range 1 << n {
			if bits.OnesCount(uint(mask)) == s.Pick {
				v := make([]float64, n)
				for i := range v {
					v[i] = s.Radius * float64(mask>>i&1)
				}
				list = append(list, v)
			}
		}
	case choice.Ranking:
		for order := range permutations(n) {
			v := make([]float64, n)
			for i, place := range order {
				v[i] = s.Values[place]
			}
			list = append(list, v)
		}
	case graph.Trees:
		for mask := range 1 << n {
			forest, trees, v := newJoined(s.Vertices), bits.OnesCount(uint(mask)) == s.Vertices-1, make([]float64, n)
			for i := range v {
				if mask>>i&1 == 1 {
					trees = trees && forest.join(s.From[i], s.To[i])
					v[i] = s.Radius
				}
			}
			if trees {
				list = append(list, v)
			}
		}
	case graph.Forests:
		for mask := range 1 << n {
			forest, free, v := newJoined(s.Vertices), true, make([]float64, n)
			for i := range v {
				if mask>>i&1 == 1 {
					free = free && forest.join(s.From[i], s.To[i])
					v[i] = s.Radius
				}
			}
			if free {
				list = append(list, v)
			}
		}
	case choice.AtMost:
		for mask := range 1 << n {
			free, v := true, make([]float64, n)
			for i := range v {
				v[i] = s.Bases.Radius * float64(mask>>i&1)
			}
			s.Bases.Each(func(at int, b choice.Subsets) { free = free && shape.Sum(v[at:at+b.N]) <= b.Total() })
			if free {
				list = append(list, v)
			}
		}
	case choice.Partition:
		list = [][]float64{nil}
		for _, b := range s.Blocks {
			var longer [][]float64
			for _, head := range list {
				for _, tail := range corners(b) {
					longer = append(longer, slices.Concat(head, tail))
				}
			}
			list = longer
		}
	case choice.Matching:
		for order := range permutations(s.Side) {
			v := make([]float64, n)
			for i, j := range order {
				v[i*s.Side+j] = s.Amount
			}
			list = append(list, v)
		}
	case graph.Flow:
		var walk func(vertex int, taken []float64)
		walk = func(vertex int, taken []float64) {
			if vertex == s.Graph.Vertices()-1 {
				list = append(list, slices.Clone(taken))
				return
			}
			for _, edge := range s.Graph.Leaving(vertex) {
				taken[edge] = s.Amount
				walk(int(s.Graph.To[edge]), taken)
				taken[edge] = 0
			}
		}
		walk(0, make([]float64, n))
	case ball.Box:
		for mask := range 1 << n {
			v := make([]float64, n)
			for i := range v {
				v[i] = [2]float64{s.High[i], s.Low[i]}[mask>>i&1]
			}
			list = append(list, v)
		}
	}
	return list
}

// These types number the vertices of sets whose oracle has a direct form, so that the general oracle can run on these
// sets, too.

type simplexVertices struct{ ball.Simplex }

func (v simplexVertices) Count() int     { return v.N }
func (v simplexVertices) Kappa() float64 { return math.Sqrt(float64(v.N)) / (2 * v.Scale) }

func (v simplexVertices) StartWeights(weights []float64)            { shape.Fill(weights, 1/float64(v.N)) }
func (v simplexVertices) Cost(id int, c []float64) float64          { return v.Scale * c[id] }
func (v simplexVertices) Add(dst []float64, id int, weight float64) { dst[id] += weight * v.Scale }
func (v simplexVertices) Minimiser(c []float64) int                 { return floats.MinIdx(c) }

// boxVertices numbers a corner of a cube by a bit mask of its negative coordinates. κ = √n/(2R), from ψ = ξ = 1 on
// [0,1]^n.
type boxVertices struct{ ball.Box }

func (v boxVertices) Count() int     { return 1 << v.N }
func (v boxVertices) Kappa() float64 { return math.Sqrt(float64(v.N)) / (2 * v.High[0]) }

func (v boxVertices) StartWeights(weights []float64) { weights[0], weights[len(weights)-1] = 0.5, 0.5 }

func (v boxVertices) Cost(id int, c []float64) float64 {
	total := 0.0
	for i, x := range c {
		total += x * v.High[0] * float64(1-id>>i&1*2)
	}
	return total
}

func (v boxVertices) Add(dst []float64, id int, weight float64) {
	for i := range dst {
		dst[i] += weight * v.High[0] * float64(1-id>>i&1*2)
	}
}

func (v boxVertices) Minimiser(c []float64) int {
	id := 0
	for i, x := range c {
		if x > 0 {
			id |= 1 << i
		}
	}
	return id
}

// somewhere returns a random vertex of a set of matrices.
func somewhere(rng *rand.Rand, s convex.Set) []float64 {
	rows, columns, size := 0, 0, 0.0
	switch s := s.(type) {
	case ball.Spectrahedron:
		rows, columns, size = s.Side, s.Side, s.Trace
	case ball.TraceNorm:
		rows, columns, size = s.Rows, s.Columns, s.Radius
	}
	u, v := normal(rng, rows, 1), normal(rng, columns, 1)
	if _, square := s.(ball.Spectrahedron); square {
		v = u
	}
	shape.Unit(u)
	shape.Unit(v)
	x := make([]float64, rows*columns)
	for i := range x {
		x[i] = size * u[i/columns] * v[i%columns]
	}
	return x
}

// joined labels vertices by the connected component to which they belong.
type joined []int

func newJoined(vertices int) joined {
	j := make(joined, vertices)
	for i := range j {
		j[i] = i
	}
	return j
}

// join unites the components of two vertices, and reports whether they were different.
func (j joined) join(a, b int32) bool {
	from, to := j[b], j[a]
	for i, label := range j {
		if label == from {
			j[i] = to
		}
	}
	return from != to
}
