package convex

import (
	"math"
	"math/rand/v2"
	"testing"
)

func mustParse(t testing.TB, name string, n int, radius float64) Set {
	t.Helper()
	s, err := Parse(name, n, radius)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dot(a, b []float64) float64 {
	total := 0.0
	for i := range a {
		total += a[i] * b[i]
	}
	return total
}

func distance(a, b []float64) float64 {
	total := 0.0
	for i := range a {
		total += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(total)
}

func normal(rng *rand.Rand, n int, scale float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = scale * rng.NormFloat64()
	}
	return v
}

// excess says by how much x breaks its set, relative to the radius.
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
		return largest/s.radius - 1
	}
	panic("unknown set")
}

// corners lists the vertices of a polytope of few dimensions.
func corners(s Set) [][]float64 {
	var list [][]float64
	n := s.Dimension()
	switch s := s.(type) {
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
	case Box:
		for mask := range 1 << n {
			v := make([]float64, n)
			for i := range v {
				v[i] = s.radius * float64(1-mask>>i&1*2)
			}
			list = append(list, v)
		}
	}
	return list
}

// Vertex numberings of the sets whose product form is direct, for the general oracle.

type simplexVertices struct{ s Simplex }

func (v simplexVertices) dimension() int    { return v.s.n }
func (v simplexVertices) count() int        { return v.s.n }
func (v simplexVertices) kappa() float64    { return math.Sqrt(float64(v.s.n)) / (2 * v.s.scale) }
func (v simplexVertices) diameter() float64 { return v.s.Diameter() }
func (v simplexVertices) start(weights []float64) {
	for i := range weights {
		weights[i] = 1 / float64(v.s.n)
	}
}
func (v simplexVertices) cost(id int, c []float64) float64          { return v.s.scale * c[id] }
func (v simplexVertices) add(dst []float64, id int, weight float64) { dst[id] += weight * v.s.scale }
func (v simplexVertices) minimiser(c []float64) int                 { return smallest(c) }

// boxVertices numbers a corner by the mask of its negative coordinates. κ = √n/(2R): ψ = ξ = 1 on [0,1]^n.
type boxVertices struct{ b Box }

func (v boxVertices) dimension() int          { return v.b.n }
func (v boxVertices) count() int              { return 1 << v.b.n }
func (v boxVertices) kappa() float64          { return math.Sqrt(float64(v.b.n)) / (2 * v.b.radius) }
func (v boxVertices) diameter() float64       { return v.b.Diameter() }
func (v boxVertices) start(weights []float64) { weights[0], weights[len(weights)-1] = 0.5, 0.5 }
func (v boxVertices) cost(id int, c []float64) float64 {
	total := 0.0
	for i, x := range c {
		total += x * v.b.radius * float64(1-id>>i&1*2)
	}
	return total
}

func (v boxVertices) add(dst []float64, id int, weight float64) {
	for i := range dst {
		dst[i] += weight * v.b.radius * float64(1-id>>i&1*2)
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
