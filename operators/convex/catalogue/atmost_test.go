package catalogue

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex"
	"oriel/operators/convex/graph"
	"oriel/operators/convex/oracle"
)

// independent returns independence polytopes of few dimensions.
func independent(t testing.TB) (out []convex.Set) {
	t.Helper()
	for n := 2; n <= 8; n++ {
		for _, name := range []string{"subsets-at-most", "partition-at-most", "forests"} {
			out = append(out, mustParse(t, name, n, 3))
		}
	}
	for _, spec := range []Spec{
		{Name: "subsets-at-most", Dimension: 1, Pick: 1},
		{Name: "subsets-at-most", Dimension: 4, Pick: 4}, // the set is the cube [0, R]^4
		{Name: "partition-at-most", Dimension: 8, Blocks: []string{"2:1", "4:2", "2:1"}},
		{Name: "forests", Dimension: 1, Edges: []string{"a>b"}},
		{Name: "forests", Dimension: 4, Edges: []string{"a>b", "c>d", "d>c", "c>d"}}, // the graph has two components
		{Name: "forests", Dimension: 6, Edges: []string{"a>b", "b>c", "c>a", "c>d", "d>a", "b>d"}},
	} {
		spec.Radius = 3
		s, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// TestGreedyTakesOnlyNegativeCosts checks that a linear oracle returns a vertex of least cost, with 0 at every
// coordinate whose cost is not negative.
func TestGreedyTakesOnlyNegativeCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, s := range independent(t) {
		n, all := s.Dimension(), corners(s)
		v, linear := make([]float64, n), convex.NewLinearOracle(s)
		for trial := range 60 {
			c := normal(rng, n, 1)
			switch trial % 3 {
			case 1:
				for i := range c {
					c[i] = float64(rng.IntN(3) - 1)
				}
			case 2:
				for i := range c {
					c[i] = rng.Float64() // no cost is negative
				}
			}
			linear.Minimise(v, c)
			if !slices.ContainsFunc(all, func(w []float64) bool { return slices.Equal(v, w) }) {
				t.Fatalf("%s: %v is no vertex", s.Name(), v)
			}
			for _, w := range all {
				if floats.Dot(w, c) < floats.Dot(v, c)-1e-12 {
					t.Fatalf("%s, costs %v: %v, and %v costs less", s.Name(), c, v, w)
				}
			}
			for i, x := range v {
				if x > 0 && c[i] >= 0 {
					t.Fatalf("%s, costs %v: %v takes what costs", s.Name(), c, v)
				}
			}
		}
	}
}

// TestMeasuresOfIndependencePolytopes checks that Diameter is the diameter of the vertices; for forests it is an upper
// bound. The start is the point of least norm. The ball of Inner is in the set: the test tries its points in the
// directions of all facets.
func TestMeasuresOfIndependencePolytopes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, s := range independent(t) {
		n, far, long := s.Dimension(), 0.0, 0.0
		for _, v := range corners(s) {
			long = max(long, floats.Norm(v, 2))
			for _, w := range corners(s) {
				far = max(far, floats.Distance(v, w, 2))
			}
		}
		if _, graph := s.(graph.Forests); far > s.Diameter()+1e-12 || !graph && far < s.Diameter()-1e-12 {
			t.Errorf("%s of %d: diameter %g, said %g", s.Name(), n, far, s.Diameter())
		}
		if d := long - s.MaxNorm(); d > 1e-12 || d < -1e-12 {
			t.Errorf("%s of %d: norm %g, said %g", s.Name(), n, long, s.MaxNorm())
		}
		start, centre := make([]float64, n), make([]float64, n)
		s.Start(start)
		if floats.Norm(start, 2) != 0 {
			t.Errorf("%s: starts at %v", s.Name(), start)
		}
		r, err := convex.Inner(s, centre)
		if err != nil || !(r > 0) {
			t.Fatalf("%s of %d: a ball of %g, %v", s.Name(), n, r, err)
		}
		for trial := range 1 << n {
			u := normal(rng, n, 1)
			if trial > 0 { // c points outwards from the face that bounds the sum over some coordinates
				for i := range u {
					u[i] = float64(trial >> i & 1)
				}
			}
			for _, sign := range []float64{1, -1} {
				x := slices.Clone(centre)
				floats.AddScaled(x, sign*r/floats.Norm(u, 2)*(1-1e-12), u)
				if e := excess(s, x); e > 0 {
					t.Fatalf("%s of %d: %v is outside by %g", s.Name(), n, x, e)
				}
			}
		}
	}
}

func TestIndependencePolytopesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Name: "subsets-at-most", Pick: 5}, "pick 5: not from 1 to 4"},
		{Spec{Name: "subsets-at-most"}, "pick 0: not from 1 to 4"},
		{Spec{Name: "partition-at-most", Blocks: []string{"2:1", "2:2"}}, "block 2: not size:pick"},
		{Spec{Name: "partition-at-most"}, "no blocks"},
		{Spec{Name: "forests", Edges: []string{"a>b", "b>c", "c>a"}}, "3 edges: not one for each of 4 dimensions"},
		{Spec{Name: "forests", Edges: []string{"a>b", "b>c", "c>a", "a"}}, "edge 4: not from>to"},
		{Spec{Name: "forests", Pick: 2, Edges: []string{"a>b", "b>c", "c>a", "a>c"}}, "pick 2: set forests has none"},
	} {
		c.spec.Dimension, c.spec.Radius = 4, 1
		if _, err := Parse(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.want)
		}
	}
}

// TestStatesOutsideTheSetAreRefused checks that states of points outside the set are refused.
func TestStatesOutsideTheSetAreRefused(t *testing.T) {
	for _, name := range []string{"subsets-at-most", "partition-at-most", "forests"} {
		s := mustParse(t, name, 6, 1)
		o, err := convex.NewLocalOracle(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range [][]float64{
			{1, 1, 1, 1, 1, 1}, {-1e-9, 0, 0, 0, 0, 0}, {1.01, 0, 0, 0, 0, 0},
		} {
			if o.Restore(oracle.AppendFloats(nil, bad)) == nil {
				t.Errorf("%s: %v is taken", name, bad)
			}
		}
		if err := o.Restore(oracle.AppendFloats(nil, []float64{0.2, 0.2, 0.2, 0.2, 0.2, 0.2})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
