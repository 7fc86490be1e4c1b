package convex

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func mustParse(t testing.TB, name string, n int, radius float64) Set {
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
func excess(s Set, x []float64) float64 {
	norm1, norm2, largest, least, total := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for _, v := range x {
		norm1 += math.Abs(v)
		norm2 += v * v
		largest = max(largest, math.Abs(v))
		least = min(least, v)
		total += v
	}
	switch s := s.(type) {
	case Ball:
		return math.Sqrt(norm2)/s.radius - 1
	case L1Ball:
		return norm1/s.radius - 1
	case Simplex:
		return max(math.Abs(total/s.scale-1), -least*math.MaxFloat64)
	case Box:
		off := math.Inf(-1)
		for i, v := range x {
			off = max(off, (v-s.high[i])/s.diameter, (s.low[i]-v)/s.diameter)
		}
		return off
	case Subsets:
		return max(math.Abs(total/s.total()-1), largest/s.radius-1, -least*math.MaxFloat64)
	case Partition:
		off := 0.0
		s.each(func(at int, b Subsets) { off = max(off, excess(b, x[at:at+b.n])) })
		return off
	case Ranking:
		off, places, sorted := math.Abs(total/s.total-1), 0.0, slices.Sorted(slices.Values(x))
		for i := range x { // any i+1 items sum to at most the first i+1 places
			places += s.values[i] - sorted[len(x)-1-i]
			off = max(off, -places/s.values[0])
		}
		return off
	case Trees:
		off := max(math.Abs(total/s.sets.total()-1), -least*math.MaxFloat64)
		return max(off, excessWithin(s.from, s.to, s.vertices, s.radius, x))
	case Forests:
		return max(-least*math.MaxFloat64, excessWithin(s.from, s.to, s.vertices, s.radius, x))
	case AtMost:
		off := max(largest/s.bases.radius-1, -least*math.MaxFloat64)
		s.bases.each(func(at int, b Subsets) { off = max(off, sum(x[at:at+b.n])/b.total()-1) })
		return off
	case Spectrahedron:
		var eigen mat.EigenSym
		if !eigen.Factorize(mat.NewSymDense(s.side, x), false) {
			return math.Inf(1)
		}
		off, trace := 0.0, 0.0
		for k, value := range eigen.Values(nil) {
			off, trace = max(off, -value/s.trace), trace+value
			for i := range k {
				off = max(off, math.Abs(x[i*s.side+k]-x[k*s.side+i])/s.trace)
			}
		}
		return max(off, math.Abs(trace/s.trace-1))
	case TraceNorm:
		var svd mat.SVD
		if !svd.Factorize(mat.NewDense(s.rows, s.columns, x), mat.SVDNone) {
			return math.Inf(1)
		}
		sum := 0.0
		for _, value := range svd.Values(nil) {
			sum += value
		}
		return sum/s.radius - 1
	case Matching:
		off := max(largest/s.amount-1, -least*math.MaxFloat64)
		for i := range s.side {
			row, column := 0.0, 0.0
			for j := range s.side {
				row, column = row+x[i*s.side+j], column+x[j*s.side+i]
			}
			off = max(off, math.Abs(row/s.amount-1), math.Abs(column/s.amount-1))
		}
		return off
	case Flow:
		off := max(largest/s.amount-1, -least*math.MaxFloat64)
		for vertex := range s.graph.vertices() - 1 {
			in, out := 0.0, 0.0
			if vertex == 0 {
				in = s.amount
			}
			for _, edge := range s.graph.entering(vertex) {
				in += x[edge]
			}
			for _, edge := range s.graph.leaving(vertex) {
				out += x[edge]
			}
			off = max(off, math.Abs(in-out)/s.amount)
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
func corners(s Set) [][]float64 {
	var list [][]float64
	n := s.Dimension()
	switch s := s.(type) {
	case Spectrahedron, TraceNorm: // random vertices, because a set of matrices has infinitely many
		rng := rand.New(rand.NewPCG(uint64(n), 8))
		for range 200 {
			list = append(list, somewhere(rng, s))
		}
	case Simplex:
		for i := range n {
			v := make([]float64, n)
			v[i] = s.scale
			list = append(list, v)
		}
	case L1Ball:
		for i := range 2 * n {
			v := make([]float64, n)
			v[i/2] = s.radius * float64(1-i%2*2)
			list = append(list, v)
		}
	case Subsets:
		for mask := range 1 << n {
			if bits.OnesCount(uint(mask)) == s.pick {
				v := make([]float64, n)
				for i := range v {
					v[i] = s.radius * float64(mask>>i&1)
				}
				list = append(list, v)
			}
		}
	case Ranking:
		for order := range permutations(n) {
			v := make([]float64, n)
			for i, place := range order {
				v[i] = s.values[place]
			}
			list = append(list, v)
		}
	case Trees:
		for mask := range 1 << n {
			forest, trees, v := newForest(s.vertices), bits.OnesCount(uint(mask)) == s.vertices-1, make([]float64, n)
			for i := range v {
				if mask>>i&1 == 1 {
					trees = trees && forest.join(s.from[i], s.to[i])
					v[i] = s.radius
				}
			}
			if trees {
				list = append(list, v)
			}
		}
	case Forests:
		for mask := range 1 << n {
			forest, free, v := newForest(s.vertices), true, make([]float64, n)
			for i := range v {
				if mask>>i&1 == 1 {
					free = free && forest.join(s.from[i], s.to[i])
					v[i] = s.radius
				}
			}
			if free {
				list = append(list, v)
			}
		}
	case AtMost:
		for mask := range 1 << n {
			free, v := true, make([]float64, n)
			for i := range v {
				v[i] = s.bases.radius * float64(mask>>i&1)
			}
			s.bases.each(func(at int, b Subsets) { free = free && sum(v[at:at+b.n]) <= b.total() })
			if free {
				list = append(list, v)
			}
		}
	case Partition:
		list = [][]float64{nil}
		for _, b := range s.blocks {
			var longer [][]float64
			for _, head := range list {
				for _, tail := range corners(b) {
					longer = append(longer, slices.Concat(head, tail))
				}
			}
			list = longer
		}
	case Matching:
		for order := range permutations(s.side) {
			v := make([]float64, n)
			for i, j := range order {
				v[i*s.side+j] = s.amount
			}
			list = append(list, v)
		}
	case Flow:
		var walk func(vertex int, taken []float64)
		walk = func(vertex int, taken []float64) {
			if vertex == s.graph.vertices()-1 {
				list = append(list, slices.Clone(taken))
				return
			}
			for _, edge := range s.graph.leaving(vertex) {
				taken[edge] = s.amount
				walk(int(s.graph.to[edge]), taken)
				taken[edge] = 0
			}
		}
		walk(0, make([]float64, n))
	case Box:
		for mask := range 1 << n {
			v := make([]float64, n)
			for i := range v {
				v[i] = [2]float64{s.high[i], s.low[i]}[mask>>i&1]
			}
			list = append(list, v)
		}
	}
	return list
}

// These types number the vertices of sets whose oracle has a direct form, so that the general oracle can run on these
// sets, too.

type simplexVertices struct{ Simplex }

func (v simplexVertices) count() int     { return v.n }
func (v simplexVertices) kappa() float64 { return math.Sqrt(float64(v.n)) / (2 * v.scale) }

func (v simplexVertices) start(weights []float64)                   { fill(weights, 1/float64(v.n)) }
func (v simplexVertices) cost(id int, c []float64) float64          { return v.scale * c[id] }
func (v simplexVertices) add(dst []float64, id int, weight float64) { dst[id] += weight * v.scale }
func (v simplexVertices) minimiser(c []float64) int                 { return smallest(c) }

// boxVertices numbers a corner of a cube by a bit mask of its negative coordinates. κ = √n/(2R), from ψ = ξ = 1 on
// [0,1]^n.
type boxVertices struct{ Box }

func (v boxVertices) count() int              { return 1 << v.n }
func (v boxVertices) kappa() float64          { return math.Sqrt(float64(v.n)) / (2 * v.high[0]) }
func (v boxVertices) start(weights []float64) { weights[0], weights[len(weights)-1] = 0.5, 0.5 }
func (v boxVertices) cost(id int, c []float64) float64 {
	total := 0.0
	for i, x := range c {
		total += x * v.high[0] * float64(1-id>>i&1*2)
	}
	return total
}

func (v boxVertices) add(dst []float64, id int, weight float64) {
	for i := range dst {
		dst[i] += weight * v.high[0] * float64(1-id>>i&1*2)
	}
}

func (v boxVertices) minimiser(c []float64) int {
	id := 0
	for i, x := range c {
		if x > 0 {
			id |= 1 << i
		}
	}
	return id
}

// somewhere returns a random vertex of a set of matrices.
func somewhere(rng *rand.Rand, s Set) []float64 {
	rows, columns, size := 0, 0, 0.0
	switch s := s.(type) {
	case Spectrahedron:
		rows, columns, size = s.side, s.side, s.trace
	case TraceNorm:
		rows, columns, size = s.rows, s.columns, s.radius
	}
	u, v := normal(rng, rows, 1), normal(rng, columns, 1)
	if _, square := s.(Spectrahedron); square {
		v = u
	}
	unit(u)
	unit(v)
	x := make([]float64, rows*columns)
	for i := range x {
		x[i] = size * u[i/columns] * v[i%columns]
	}
	return x
}
