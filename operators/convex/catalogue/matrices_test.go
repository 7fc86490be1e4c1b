package catalogue

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"oriel/operators/convex"
	"oriel/operators/convex/ball"
	"oriel/operators/convex/oracle"
)

// TestLeastCostsOfMatrices compares the least cost over a set with gonum, for costs of all sizes, of low rank, and
// zero. Over a spectrahedron the least cost is R times the least eigenvalue of the symmetric part. Over a trace-norm
// ball it is −R times the largest singular value.
func TestLeastCostsOfMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for trial := range 300 {
		scale := math.Pow(10, float64(rng.IntN(9)*30-120))
		m := 2 + rng.IntN(5)
		s, err := ball.NewSpectrahedron(m*m, 3)
		if err != nil {
			t.Fatal(err)
		}
		cost := func(n int) []float64 {
			c := normal(rng, n, scale)
			switch trial % 5 {
			case 1:
				for i := range c {
					c[i] = 0
				}
			case 2:
				for i := range c {
					c[i] = scale * float64(rng.IntN(2))
				}
			}
			return c
		}
		c, v := cost(m*m), make([]float64, m*m)
		s.Linear().Minimise(v, c)
		part := mat.NewSymDense(m, nil)
		for i := range m {
			for j := i; j < m; j++ {
				part.SetSym(i, j, (c[i*m+j]+c[j*m+i])/2)
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(part, false) {
			t.Fatal("gonum finds no eigenvalues")
		}
		want := 3 * eigen.Values(nil)[0]
		if math.Abs(floats.Dot(c, v)-want) > 1e-11*scale*float64(m) || excess(s, v) > 1e-12 {
			t.Fatalf("trial %d: cost %g, want %g", trial, floats.Dot(c, v), want)
		}
		rows, columns := 1+rng.IntN(5), 1+rng.IntN(5)
		b, err := ball.NewTraceNorm(rows*columns, rows, 3)
		if err != nil {
			t.Fatal(err)
		}
		c, v = cost(rows*columns), make([]float64, rows*columns)
		b.Linear().Minimise(v, c)
		var svd mat.SVD
		if !svd.Factorize(mat.NewDense(rows, columns, c), mat.SVDNone) {
			t.Fatal("gonum finds no singular values")
		}
		want = -3 * svd.Values(nil)[0]
		if math.Abs(floats.Dot(c, v)-want) > 1e-11*scale*float64(m) || excess(b, v) > 1e-12 {
			t.Fatalf("trial %d: %d × %d, cost %g, want %g", trial, rows, columns, floats.Dot(c, v), want)
		}
	}
}

// TestNearestMatrix checks that the projection onto a spectrahedron is the nearest point: ⟨x − p, w − p⟩ ≤ 0 for every
// vertex w, which the test checks at the vertex that maximises the left side.
func TestNearestMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	for trial := range 300 {
		m := 2 + rng.IntN(4)
		s, err := ball.NewSpectrahedron(m*m, 2)
		if err != nil {
			t.Fatal(err)
		}
		size := math.Pow(10, float64(rng.IntN(7)-3))
		x, p, away, w := normal(rng, m*m, size), make([]float64, m*m), make([]float64, m*m), make([]float64, m*m)
		s.Projection().Project(p, x)
		if e := excess(s, p); e > 1e-12 {
			t.Fatalf("trial %d: infeasible by %g", trial, e)
		}
		floats.SubTo(away, p, x)
		s.Linear().Minimise(w, away)
		if gap := floats.Dot(away, p) - floats.Dot(away, w); gap > 1e-11*(1+size) {
			t.Fatalf("trial %d: a vertex is nearer by %g", trial, gap)
		}
	}
}

// TestMatricesRefuse checks that dimensions that are no matrix sizes are refused, and states of other matrices too.
func TestMatricesRefuse(t *testing.T) {
	for _, spec := range []Spec{
		{Name: "spectrahedron", Dimension: 5, Radius: 1},
		{Name: "spectrahedron", Dimension: 1, Radius: 1},
		{Name: "spectrahedron", Dimension: 129 * 129, Radius: 1},
		{Name: "trace-norm", Dimension: 6, Radius: 1},
		{Name: "trace-norm", Dimension: 6, Rows: 4, Radius: 1},
		{Name: "trace-norm", Dimension: 129 * 130, Rows: 129, Radius: 1},
		{Name: "box", Dimension: 6, Rows: 2, Radius: 1},
	} {
		if _, err := Parse(spec); err == nil {
			t.Errorf("%+v is taken", spec)
		}
	}
	state := func(x ...float64) []byte { return oracle.AppendFloats(nil, x) }
	s := oracle.Follow(mustParse(t, "spectrahedron", 4, 1).(oracle.Followed))
	b := oracle.Follow(mustParse(t, "trace-norm", 4, 1).(oracle.Followed))
	for _, wrong := range [][]byte{
		state(0.5, 0.1, 0.2, 0.5), state(0.9, 0, 0, 0.5), state(1.5, 0, 0, -0.5), state(math.NaN(), 0, 0, 1), state(1, 0, 0),
	} {
		if s.Restore(wrong) == nil {
			t.Errorf("a state of no spectrahedron is taken")
		}
	}
	for _, wrong := range [][]byte{state(1.1, 0, 0, 0), state(0.8, 0.8, 0, 0), state(math.NaN(), 0, 0, 0)} {
		if b.Restore(wrong) == nil {
			t.Errorf("a state of no trace-norm ball is taken")
		}
	}
	if s.Restore(state(0.5, 0.1, 0.1, 0.5)) != nil || b.Restore(state(0.1, 0.2, 0, 0)) != nil {
		t.Error("good states are refused")
	}
}

// TestVerticesOfMatricesReachTheDiameter checks that vertices of matrices reach Diameter. Tangent of a spectrahedron
// has no trace, and keeps all components along the set.
func TestVerticesOfMatricesReachTheDiameter(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for m := 2; m < 6; m++ {
		s, b := mustParse(t, "spectrahedron", m*m, 3).(ball.Spectrahedron), mustParse(t, "trace-norm", 2*m, 3)
		first, last := make([]float64, m*m), make([]float64, m*m)
		first[0], last[m*m-1] = 3, 3
		if far := floats.Distance(first, last, 2); math.Abs(far/s.Diameter()-1) > 1e-14 {
			t.Errorf("spectrahedron of %d rows: diameter %g, said %g", m, far, s.Diameter())
		}
		vertex, opposite := make([]float64, 2*m), make([]float64, 2*m)
		vertex[0], opposite[0] = 3, -3
		if far := floats.Distance(vertex, opposite, 2); far != b.Diameter() {
			t.Errorf("trace-norm of 2 by %d: diameter %g, said %g", m, far, b.Diameter())
		}
		lost := normal(rng, m*m, 1)
		tangent := append([]float64(nil), lost...)
		project(t, s, tangent)
		trace := 0.0
		for i := range m {
			trace += tangent[i*m+i]
		}
		floats.Sub(lost, tangent)
		if gone := floats.Dot(lost, first) - floats.Dot(lost, last); math.Abs(gone)+math.Abs(trace) > 1e-13 {
			t.Errorf("spectrahedron of %d rows: tangent has trace %g and loses %g", m, trace, gone)
		}
	}
}

// TestSizesOfCostsOfTraceNorm checks that scaling costs until their squares overflow or underflow does not change the
// vertex of trace-norm.
func TestSizesOfCostsOfTraceNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	b := mustParse(t, "trace-norm", 10, 3)
	cost, far, want, got := normal(rng, 10, 1), make([]float64, 10), make([]float64, 10), make([]float64, 10)
	convex.NewLinearOracle(b).Minimise(want, cost)
	for _, exponent := range []int{-1000, -600, 600, 1000} {
		for i, v := range cost {
			far[i] = math.Ldexp(v, exponent)
		}
		convex.NewLinearOracle(b).Minimise(got, far)
		if floats.Distance(got, want, 2) > 1e-13 {
			t.Errorf("costs times 2^%d: %v, want %v", exponent, got, want)
		}
	}
}
