package catalogue

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex"
	"oriel/operators/convex/graph"
)

func TestGraphsWithoutTrees(t *testing.T) {
	for _, c := range []struct {
		edges []string
		want  string
	}{
		{[]string{"a>b", "b>c"}, "2 edges: not one for each of 3 dimensions"},
		{[]string{"a>b", "b>c", "c>d"}, "3 for 4 vertices: with fewer edges than vertices"},
		{[]string{"a>b", "b>a", "c>d", "c>d"}, "no way from a to c"},
		{[]string{"a>b", "b>a", "c>c"}, "edge 3: not from>to"},
	} {
		n := len(c.edges)
		if n == 2 {
			n = 3
		}
		_, err := Parse(Spec{Name: "trees", Dimension: n, Radius: 1, Edges: c.edges})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.edges, err, c.want)
		}
	}
}

// TestTrees checks that the start is in the set and closer to the point of least norm than any tree. Diameter and
// largest norm are at most the declared ones, and Tangent keeps all components along the set.
func TestTrees(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8, 12} {
		s := mustParse(t, "trees", n, 3).(graph.Trees)
		all, x := corners(s), make([]float64, n)
		s.Start(x)
		if e := excess(s, x); e > 1e-14 {
			t.Errorf("n=%d: start %v infeasible by %g", n, x, e)
		}
		// The Frank–Wolfe gap bounds the distance: |x − least|² is at most ⟨x, x−v⟩ at the best vertex v.
		best := make([]float64, n)
		s.Linear().Minimise(best, x)
		if gap := floats.Dot(x, x) - floats.Dot(x, best); gap > 0.1*s.MaxNorm()*s.MaxNorm() {
			t.Errorf("n=%d: start %v is %g from the point of least norm", n, x, math.Sqrt(gap))
		}
		far := 0.0
		v := normal(rand.New(rand.NewPCG(1, 1)), n, 1)
		tangent := slices.Clone(v)
		project(t, s, tangent)
		floats.Sub(v, tangent)
		for _, a := range all {
			if long := floats.Norm(a, 2); math.Abs(long/s.MaxNorm()-1) > 1e-14 {
				t.Errorf("n=%d: norm %g, said %g", n, long, s.MaxNorm())
			}
			for _, b := range all {
				far = max(far, floats.Distance(a, b, 2))
			}
			if gone := floats.Dot(v, a) - floats.Dot(v, all[0]); math.Abs(gone) > 1e-13 {
				t.Errorf("n=%d: tangent loses %g along the set", n, gone)
			}
		}
		if far > s.Diameter()*(1+1e-14) || far == 0 {
			t.Errorf("n=%d: diameter %g, said %g", n, far, s.Diameter())
		}
	}
}

// TestTiesOfTrees checks that, with equal costs, the tree takes the first edges in the list.
func TestTiesOfTrees(t *testing.T) {
	s, err := Parse(Spec{Name: "trees", Dimension: 4, Radius: 1, Edges: []string{"a>b", "b>a", "c>b", "a>c"}})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 4)
	for _, cost := range []float64{0, 2, -1} {
		convex.NewLinearOracle(s).Minimise(x, slices.Repeat([]float64{cost}, 4))
		if !slices.Equal(x, []float64{1, 0, 1, 0}) {
			t.Errorf("of equal costs %g: %v", cost, x)
		}
	}
}
