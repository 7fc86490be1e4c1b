package catalogue

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex"
	"oriel/operators/convex/ball"
	"oriel/operators/convex/choice"
	"oriel/operators/convex/graph"
	"oriel/operators/convex/shape"
)

// slowProject finds the multiplier by bisection: τ for the simplex, the soft threshold for the ℓ1 ball.
func slowProject(s convex.Set, x []float64) []float64 {
	out := make([]float64, len(x))
	bisect := func(total float64, at func(tau float64) float64, low, high float64) float64 {
		for range 200 {
			mid := low + (high-low)/2
			if at(mid) > total {
				low = mid
			} else {
				high = mid
			}
		}
		return high
	}
	switch s := s.(type) {
	case ball.L2:
		factor := min(1, s.Radius/floats.Distance(x, out, 2))
		for i, v := range x {
			out[i] = factor * v
		}
	case ball.Box:
		for i, v := range x {
			out[i] = math.Min(math.Max(v, s.Low[i]), s.High[i])
		}
	case ball.Simplex:
		mass := func(tau float64) float64 {
			total := 0.0
			for _, v := range x {
				total += math.Max(v-tau, 0)
			}
			return total
		}
		tau := bisect(s.Scale, mass, slices.Min(x)-s.Scale, slices.Max(x))
		for i, v := range x {
			out[i] = math.Max(v-tau, 0)
		}
	case graph.Flow:
		return slowFlow(s, x)
	case choice.Matching:
		return slowMatching(s, x)
	case choice.Ranking:
		return slowRanking(s, x)
	case choice.Partition:
		s.Each(func(at int, b choice.Subsets) { copy(out[at:], slowProject(b, x[at:at+b.N])) })
	case choice.AtMost:
		s.Bases.Each(func(at int, b choice.Subsets) {
			block := out[at : at+b.N]
			for i, v := range x[at : at+b.N] {
				block[i] = math.Min(math.Max(v, 0), b.Radius)
			}
			if shape.Sum(block) > b.Total() {
				copy(block, slowProject(b, x[at:at+b.N]))
			}
		})
	case choice.Subsets:
		mass := func(tau float64) float64 {
			total := 0.0
			for _, v := range x {
				total += math.Min(math.Max(v-tau, 0), s.Radius)
			}
			return total
		}
		tau := bisect(s.Total(), mass, slices.Min(x)-s.Radius, slices.Max(x))
		for i, v := range x {
			out[i] = math.Min(math.Max(v-tau, 0), s.Radius)
		}
	case ball.L1:
		mass := func(tau float64) float64 {
			total := 0.0
			for _, v := range x {
				total += math.Max(math.Abs(v)-tau, 0)
			}
			return total
		}
		if mass(0) <= s.Radius {
			return slices.Clone(x)
		}
		tau := bisect(s.Radius, mass, 0, mass(0))
		for i, v := range x {
			out[i] = math.Copysign(math.Max(math.Abs(v)-tau, 0), v)
		}
	}
	return out
}

// projected reports whether a set has a projection.
func projected(name string) bool {
	return !slices.Contains([]string{"flow", "matching", "vertices", "trees", "trace-norm", "forests"}, name)
}

// everySet calls f for each set that has a projection.
func everySet(t *testing.T, f func(t *testing.T, s convex.Set, rng *rand.Rand)) {
	for _, name := range Names() {
		for _, n := range []int{1, 2, 3, 5, 8} {
			plural := []string{"simplex", "subsets", "partition", "ranking", "partition-at-most"}
			if n == 1 && slices.Contains(plural, name) || !projected(name) ||
				name == "ranking" && n == 8 || // this ranking has 40 320 vertices
				name == "spectrahedron" { // TestNearestMatrix checks the spectrahedron
				continue
			}
			for _, radius := range []float64{1, 0.01, 7} {
				t.Run(name, func(t *testing.T) {
					f(t, mustParse(t, name, n, radius), rand.New(rand.NewPCG(uint64(n), 11)))
				})
			}
		}
	}
}

func TestProjection(t *testing.T) {
	everySet(t, func(t *testing.T, s convex.Set, rng *rand.Rand) {
		n := s.Dimension()
		p, err := convex.NewProjection(s)
		if err != nil {
			t.Fatal(err)
		}
		got, again, other := make([]float64, n), make([]float64, n), make([]float64, n)
		for trial := range 300 {
			x := normal(rng, n, s.MaxNorm()*[]float64{0.1, 1, 3, 1e6}[trial%4])
			if trial%5 == 0 { // all entries are equal
				for i := range x {
					x[i] = x[i%2]
				}
			}
			size := 1 + s.MaxNorm() + floats.Distance(x, make([]float64, n), 2)
			tol := 1e-13 * size
			p.Project(got, x)
			if e := excess(s, got); e > 1e-12 {
				t.Fatalf("infeasible by %g: %v", e, got)
			}
			if want := slowProject(s, x); floats.Distance(got, want, 2) > 10*tol {
				t.Fatalf("projection of %v is %v, bisection says %v", x, got, want)
			}
			p.Project(again, got)
			if d := floats.Distance(again, got, 2); d > 1e-13*s.MaxNorm()*float64(n) {
				t.Fatalf("not idempotent: moved by %g", d)
			}
			copy(again, x)
			p.Project(again, again)
			if !slices.Equal(again, got) {
				t.Fatalf("in place it gives %v instead of %v", again, got)
			}
			y := normal(rng, n, s.MaxNorm())
			p.Project(other, y)
			if floats.Distance(other, got, 2) > floats.Distance(x, y, 2)+tol {
				t.Fatalf("expands: %g to %g", floats.Distance(x, y, 2), floats.Distance(other, got, 2))
			}
			// This is the variational inequality ⟨x − Πx, z − Πx⟩ ≤ 0 at another point z of the set.
			slope := 0.0
			for i := range x {
				slope += (x[i] - got[i]) * (other[i] - got[i])
			}
			if slope > 10*tol*s.Diameter() {
				t.Fatalf("a point of the set is nearer: slope %g", slope)
			}
		}
	})
}

func TestLinearOracle(t *testing.T) {
	everySet(t, func(t *testing.T, s convex.Set, rng *rand.Rand) {
		n := s.Dimension()
		oracle := convex.NewLinearOracle(s)
		got := make([]float64, n)
		for trial := range 200 {
			c := normal(rng, n, 1)
			if trial == 0 {
				clear(c)
			}
			oracle.Minimise(got, c)
			if e := excess(s, got); e > 1e-15 {
				t.Fatalf("infeasible by %g: %v", e, got)
			}
			for _, v := range corners(s) {
				if floats.Dot(v, c) < floats.Dot(got, c) {
					t.Fatalf("vertex %v beats %v", v, got)
				}
			}
			if ball, ok := s.(ball.L2); ok {
				want := -ball.Radius * floats.Norm(c, 2)
				if cost := floats.Dot(got, c); math.Abs(cost-want) > 1e-14*ball.Radius*float64(n) {
					t.Fatalf("ball: cost %v, want %v", cost, want)
				}
			}
		}
	})
}

func TestStartDiameterAndNorm(t *testing.T) {
	everySet(t, func(t *testing.T, s convex.Set, rng *rand.Rand) {
		n := s.Dimension()
		start := make([]float64, n)
		s.Start(start)
		if e := excess(s, start); e > 1e-15 {
			t.Errorf("start %v infeasible by %g", start, e)
		}
		least, want := slowProject(s, make([]float64, n)), 0.0
		if floats.Distance(start, least, 2) > 1e-14*s.MaxNorm() {
			t.Errorf("start %v is not the point of least norm %v", start, least)
		}
		far := 0.0
		for _, v := range corners(s) {
			far = max(far, math.Sqrt(floats.Dot(v, v)))
			for _, w := range corners(s) {
				want = max(want, floats.Distance(v, w, 2))
			}
		}
		if _, ok := s.(ball.L2); ok {
			far, want = s.(ball.L2).Radius, 2*s.(ball.L2).Radius
		}
		if math.Abs(s.Diameter()-want) > 1e-14*want || math.Abs(s.MaxNorm()-far) > 1e-14*far {
			t.Errorf("diameter %v, want %v; norm %v, want %v", s.Diameter(), want, s.MaxNorm(), far)
		}
		// The projection to the tangent space must remove a vector that is orthogonal to every difference of points of
		// the set.
		v := normal(rng, n, 1)
		tangent := slices.Clone(v)
		project(t, s, tangent)
		for _, a := range corners(s) {
			for _, b := range corners(s) {
				gone := 0.0
				for i := range v {
					gone += (v[i] - tangent[i]) * (a[i] - b[i])
				}
				if math.Abs(gone) > 1e-13*s.Diameter() {
					t.Fatalf("tangent loses %g along the set", gone)
				}
			}
		}
	})
}

func TestProjectionDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range Names() {
		if !projected(name) {
			continue
		}
		s := mustParse(t, name, 32, 1)
		p, err := convex.NewProjection(s)
		if err != nil {
			t.Fatal(err)
		}
		x, dst := normal(rng, s.Dimension(), 3), make([]float64, s.Dimension())
		if n := testing.AllocsPerRun(100, func() { p.Project(dst, x) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
