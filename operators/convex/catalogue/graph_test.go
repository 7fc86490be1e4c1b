package catalogue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex/choice"
	"oriel/operators/convex/graph"
)

// slowFlow projects onto the set of flows.
func slowFlow(f graph.Flow, v []float64) []float64 {
	n, rows := f.Dimension(), f.Graph.Vertices()-1
	a, b := mat.NewDense(rows, n, nil), make([]float64, rows)
	b[0] = f.Amount
	for edge := range n {
		a.Set(int(f.Graph.From[edge]), edge, 1)
		if to := int(f.Graph.To[edge]); to < rows {
			a.Set(to, edge, a.At(to, edge)-1)
		}
	}
	return slowParts(a, b, v)
}

// slowMatching projects onto the set of matchings. The sum of the last column follows from the other sums.
func slowMatching(m choice.Matching, v []float64) []float64 {
	rows := 2*m.Side - 1
	a, b := mat.NewDense(rows, m.Dimension(), nil), slices.Repeat([]float64{m.Amount}, rows)
	for i := range v {
		a.Set(i/m.Side, i, 1)
		if column := m.Side + i%m.Side; column < rows {
			a.Set(column, i, 1)
		}
	}
	return slowParts(a, b, v)
}

// slowParts projects onto {Ax = b, x ≥ 0} by alternating directions (Boyd and others, Distributed optimization by ADMM,
// 2011, section 5), between the affine hull and x ≥ 0.
func slowParts(a *mat.Dense, b, v []float64) []float64 {
	rows, n := a.Dims()
	var gram, right, hull mat.Dense
	gram.Mul(a, a.T())
	if err := right.Solve(&gram, a); err != nil {
		panic(err)
	}
	hull.Mul(a.T(), &right) // projection to the row space
	var shift, one mat.VecDense
	if err := shift.SolveVec(&gram, mat.NewVecDense(rows, b)); err != nil {
		panic(err)
	}
	one.MulVec(a.T(), &shift) // the solution of Ax = b of least norm
	y, z, u, w := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for range 600 {
		for i := range y {
			w[i] = (v[i] + z[i] - u[i]) / 2
		}
		for i := range y {
			y[i] = w[i] + one.AtVec(i)
			for j, x := range w {
				y[i] -= hull.At(i, j) * x
			}
		}
		for i := range y {
			z[i] = max(0, y[i]+u[i])
			u[i] += y[i] - z[i]
		}
	}
	return y
}

// layered returns a graph whose vertices form layers, each joined to all vertices of the next.
func layered(layers, width int) (edges []string) {
	for w := range width {
		edges = append(edges, fmt.Sprintf("s>0.%d", w))
	}
	for l := range layers - 1 {
		for v := range width {
			for w := range width {
				edges = append(edges, fmt.Sprintf("%d.%d>%d.%d", l, v, l+1, w))
			}
		}
	}
	for w := range width {
		edges = append(edges, fmt.Sprintf("%d.%d>t", layers-1, w))
	}
	return edges
}

// grid returns a square of side × side vertices with edges to the right and down: 2·side·(side−1) of them.
func grid(side int) (edges []string) {
	for i := range side {
		for j := range side {
			if j+1 < side {
				edges = append(edges, fmt.Sprintf("%d.%d>%d.%d", i, j, i, j+1))
			}
			if i+1 < side {
				edges = append(edges, fmt.Sprintf("%d.%d>%d.%d", i, j, i+1, j))
			}
		}
	}
	return edges
}

func parseFlow(t testing.TB, edges []string, amount float64) graph.Flow {
	t.Helper()
	s, err := Parse(Spec{Name: "flow", Dimension: len(edges), Radius: amount, Edges: edges})
	if err != nil {
		t.Fatal(err)
	}
	return s.(graph.Flow)
}

func TestGraphsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		edges []string
		n     int
		want  string
	}{
		{[]string{"s>t", "st"}, 2, "edge 2: not from>to"},
		{[]string{"s>t", "t>t"}, 2, "edge 2: not from>to"},
		{[]string{"s>a", "a>b", "b>a", "b>t"}, 4, "edge 2: a>b is on a cycle"},
		{[]string{"s>t", "r>t"}, 2, "2 vertices without an edge into them, such as s and r"},
		{[]string{"s>t", "s>a"}, 2, "2 vertices without an edge out of them, such as t and a"},
		{[]string{"s>t"}, 2, "1 edges: not one for each of 2 dimensions"},
		{nil, 2, "0 edges"},
	} {
		_, err := Parse(Spec{Name: "flow", Dimension: c.n, Radius: 1, Edges: c.edges})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.edges, err, c.want)
		}
	}
}

// TestShortestPathsAreTheBest compares the linear oracle with every path, on graphs with equal costs too.
func TestShortestPathsAreTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, edges := range [][]string{ladder(1), ladder(2), ladder(7), ladder(14), grid(4), layered(3, 3)} {
		f := parseFlow(t, edges, 2)
		paths, oracle, got := corners(f), f.Linear(), make([]float64, len(edges))
		for trial := range 100 {
			c := normal(rng, len(edges), 1)
			if trial%4 == 0 {
				for i := range c {
					c[i] = float64(rng.IntN(3) - 1)
				}
			}
			oracle.Minimise(got, c)
			if !slices.ContainsFunc(paths, func(p []float64) bool { return slices.Equal(p, got) }) {
				t.Fatalf("%v is no path", got)
			}
			for _, p := range paths {
				if floats.Dot(p, c) < floats.Dot(got, c)-1e-12 {
					t.Fatalf("path %v beats %v", p, got)
				}
			}
		}
	}
}

func TestStartOfAFlowIsEven(t *testing.T) {
	f := parseFlow(t, []string{"s>a", "s>b", "a>b", "a>t", "b>t"}, 4)
	got := make([]float64, 5)
	f.Start(got)
	if want := []float64{2, 2, 1, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestDiameterOfFlows checks that Diameter and MaxNorm are upper bounds, and that a graph with disjoint longest paths
// reaches them.
func TestDiameterOfFlows(t *testing.T) {
	for _, edges := range [][]string{ladder(7), ladder(14), grid(3), {"s>a", "a>t", "s>b", "b>t"}} {
		f := parseFlow(t, edges, 3)
		far, long := 0.0, 0.0
		for _, a := range corners(f) {
			for _, b := range corners(f) {
				far = max(far, floats.Distance(a, b, 2))
			}
			long = max(long, floats.Distance(a, make([]float64, len(a)), 2))
		}
		if far > f.Diameter()*(1+1e-15) || long > f.MaxNorm()*(1+1e-15) || long < f.MaxNorm()*(1-1e-15) {
			t.Errorf("%d edges: %g and %g, said %g and %g", len(edges), far, long, f.Diameter(), f.MaxNorm())
		}
		if len(edges) == 4 && far < f.Diameter()*(1-1e-15) {
			t.Errorf("two paths of two edges: %g apart, said %g", far, f.Diameter())
		}
	}
}

// TestBalance checks that balance restores a flow from a flow with rounding errors.
func TestBalance(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		f := parseFlow(t, ladder(1+rng.IntN(30)), 5)
		x := make([]float64, f.Dimension())
		for i := range x {
			if rng.IntN(3) > 0 {
				x[i] = 5 * rng.Float64()
			}
		}
		f.Settle(x)
		if e := excess(f, x); e > 1e-14 {
			t.Fatalf("off by %g: %v", e, x)
		}
		again := slices.Clone(x)
		f.Settle(again)
		if d := floats.Distance(x, again, 2); d > 1e-14 {
			t.Fatalf("a flow is moved by %g", d)
		}
	}
}
