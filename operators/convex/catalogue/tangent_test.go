package catalogue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/convex"
	"oriel/operators/convex/shape"
)

// project projects onto the tangent space of a set.
func project(t testing.TB, s convex.Set, v []float64) {
	t.Helper()
	tangent, err := convex.NewTangent(s)
	if err != nil {
		t.Fatal(err)
	}
	tangent.Project(v)
}

// slowTangent returns a basis of the span of the differences of points, in columns: left singular vectors.
func slowTangent(t testing.TB, points [][]float64) *mat.Dense {
	t.Helper()
	n := len(points[0])
	away := mat.NewDense(n, max(1, len(points)-1), nil)
	for j, p := range points[1:] {
		for i := range n {
			away.Set(i, j, p[i]-points[0][i])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(away, mat.SVDFullU) {
		t.Fatal("no singular values")
	}
	values, rank := svd.Values(nil), 0
	for _, v := range values {
		if v > 1e-10*values[0] {
			rank++
		}
	}
	var u mat.Dense
	svd.UTo(&u)
	if rank == 0 {
		return mat.NewDense(n, 1, nil)
	}
	return mat.DenseCopyOf(u.Slice(0, n, 0, rank))
}

// slowly projects v to the span of orthonormal columns.
func slowly(basis *mat.Dense, v []float64) []float64 {
	var share, out mat.VecDense
	share.MulVec(basis.T(), mat.NewVecDense(len(v), v))
	out.MulVec(basis, &share)
	return out.RawVector().Data
}

// flat returns sets of few dimensions. For each, corners lists points that span the set's affine hull.
func flat(t testing.TB) []convex.Set {
	t.Helper()
	var out []convex.Set
	parse := func(spec Spec) {
		s, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	for n := 2; n <= 8; n++ {
		for _, name := range []string{
			"simplex", "box", "l1-ball", "subsets", "partition", "flow", "trees", "subsets-at-most", "partition-at-most",
			"forests",
		} {
			out = append(out, mustParse(t, name, n, 2))
		}
	}
	for _, n := range []int{4, 9} {
		for _, name := range []string{"matching", "spectrahedron", "trace-norm"} {
			out = append(out, mustParse(t, name, n, 2))
		}
	}
	out = append(out, mustParse(t, "ranking", 5, 2))
	for _, edges := range [][]string{
		{"s>t"},                      // all flows are one point
		{"s>a", "a>t"},               // the graph is one path
		{"s>a", "s>a", "a>t", "s>t"}, // the graph has parallel edges
		layered(2, 2), layered(2, 3), // all paths cross each layer, so that costs of a layer can be shifted
	} {
		parse(Spec{Name: "flow", Dimension: len(edges), Radius: 2, Edges: edges})
	}
	for _, edges := range [][]string{
		{"a>b", "b>c", "c>a", "c>d", "d>e", "e>c"},        // the graph is two triangles that share a vertex
		{"a>b", "b>a", "b>c", "c>d", "d>e", "e>c", "e>f"}, // parallel edges, a bridge, a triangle, a pendant
		{"a>b", "b>c", "c>d", "d>a", "a>c", "d>e", "e>d"}, // the graph is a square with a diagonal and a double edge
		{"m>a", "m>b", "m>c", "a>m", "a>b", "c>m", "c>m"}, // the graph has several blocks that share one vertex
	} {
		parse(Spec{Name: "trees", Dimension: len(edges), Radius: 2, Edges: edges})
	}
	return out
}

// TestTangentContainsAllDifferences checks that the tangent space is the span of all differences of points, that its
// dimension is their rank, and that the projection is the nearest vector.
func TestTangentContainsAllDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, s := range flat(t) {
		points := corners(s)
		basis := slowTangent(t, points)
		tangent, err := convex.NewTangent(s)
		if err != nil {
			t.Fatal(err)
		}
		_, rank := basis.Dims()
		if mat.Norm(basis, 2) == 0 {
			rank = 0
		}
		if tangent.Dimension() != rank {
			t.Errorf("%s of %d: dimension %d, want %d", s.Name(), s.Dimension(), tangent.Dimension(), rank)
		}
		for _, scale := range []float64{1e-9, 1, 1e9} {
			v := normal(rng, s.Dimension(), scale)
			want := slowly(basis, v)
			tangent.Project(v)
			if off := floats.Distance(v, want, 2); off > 1e-13*scale {
				t.Errorf("%s of %d: %g from the nearest vector of the space", s.Name(), s.Dimension(), off)
			}
			again := slices.Clone(v)
			tangent.Project(again)
			if off := floats.Distance(v, again, 2); off > 1e-13*scale {
				t.Errorf("%s of %d: a second projection moves by %g", s.Name(), s.Dimension(), off)
			}
		}
	}
}

// TestTangentOfVertices checks points of a plane, with and without an offset, and points that are equal up to rounding
// in some direction.
func TestTangentOfVertices(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for n := 2; n < 9; n++ {
		for rank := 1; rank <= n; rank++ {
			var spec Spec
			directions, offset := make([][]float64, rank), normal(rng, n, 10)
			for k := range directions {
				directions[k] = normal(rng, n, 1)
			}
			var points [][]float64
			for range rank + 1 + rng.IntN(9) {
				x := slices.Clone(offset)
				for _, d := range directions {
					floats.AddScaled(x, rng.NormFloat64(), d)
				}
				points = append(points, x)
				spec.Corners = append(spec.Corners, strings.Trim(fmt.Sprint(x), "[]"))
			}
			spec.Name, spec.Dimension, spec.Radius = "vertices", n, 1
			s, err := Parse(spec)
			if err != nil {
				t.Fatal(err)
			}
			tangent, err := convex.NewTangent(s)
			if err != nil {
				t.Fatal(err)
			}
			if tangent.Dimension() != rank {
				t.Fatalf("%d points of %d dimensions in %d: %d", len(points), rank, n, tangent.Dimension())
			}
			v := normal(rng, n, 1)
			want := slowly(slowTangent(t, points), v)
			tangent.Project(v)
			if off := floats.Distance(v, want, 2); off > 1e-9 {
				t.Errorf("n=%d, rank %d: off by %g", n, rank, off)
			}
		}
	}
}

// TestTangentOfLargeFlows checks large graphs. Projected costs balance at each vertex, and the subtracted part is a
// difference of potentials, so that the costs of all flows change by one common number.
func TestTangentOfLargeFlows(t *testing.T) {
	for name, edges := range map[string][]string{
		"grid": grid(tiertest.Runs(12, 60)), "layered": layered(6, 8), "ladder": ladder(tiertest.Runs(500, 4000)),
	} {
		f := parseFlow(t, edges, 3)
		rng := rand.New(rand.NewPCG(5, 5))
		v := normal(rng, len(edges), 1)
		before, long := slices.Clone(v), floats.Norm(v, 2)
		project(t, f, v)
		worst, gone := 0.0, make([]float64, len(v))
		floats.SubTo(gone, before, v)
		for vertex := range f.Graph.Vertices() {
			total := 0.0
			for _, edge := range f.Graph.Entering(vertex) {
				total += v[edge]
			}
			for _, edge := range f.Graph.Leaving(vertex) {
				total -= v[edge]
			}
			worst = max(worst, math.Abs(total))
		}
		if worst > 1e-12*long {
			t.Errorf("%s: a vertex is off by %g of %g", name, worst, long)
		}
		if off := math.Abs(floats.Dot(gone, v)); off > 1e-11*long*long {
			t.Errorf("%s: what is gone is not orthogonal: %g", name, off)
		}
		first, second := make([]float64, len(v)), make([]float64, len(v))
		convex.NewLinearOracle(f).Minimise(first, before)
		convex.NewLinearOracle(f).Minimise(second, v)
		if !slices.Equal(first, second) {
			t.Errorf("%s: projected costs have another shortest path", name)
		}
	}
}

// TestCoarseTangents checks the projections of CoarseTangent.
func TestCoarseTangents(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, name := range Names() {
		n := 9
		s := mustParse(t, name, n, 2)
		v := normal(rng, s.Dimension(), 1)
		got, want := slices.Clone(v), slices.Clone(v)
		convex.CoarseTangent(s).Project(got)
		switch name {
		case "flow", "vertices":
		case "trees":
			mean := shape.Sum(want) / float64(n)
			for i := range want {
				want[i] -= mean
			}
		default:
			project(t, s, want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestTangentOfOneBlockIsTheCoarseOne checks that for trees in a graph with one block both projections are equal bit
// for bit.
func TestTangentOfOneBlockIsTheCoarseOne(t *testing.T) {
	edges := []string{"a>b", "c>d", "b>c", "d>a", "a>c", "d>b"}
	s, err := Parse(Spec{Name: "trees", Dimension: 6, Radius: 1, Edges: edges})
	if err != nil {
		t.Fatal(err)
	}
	v := normal(rand.New(rand.NewPCG(7, 7)), 6, 1)
	w := slices.Clone(v)
	project(t, s, v)
	convex.CoarseTangent(s).Project(w)
	if !slices.Equal(v, w) {
		t.Errorf("%v, coarse %v", v, w)
	}
}

// TestFactorsThatAreTooLarge checks that NewTangent refuses graphs whose factor would be too large, so that costs are
// not projected.
func TestFactorsThatAreTooLarge(t *testing.T) {
	_, err := convex.NewTangent(parseFlow(t, ladder(6000), 1))
	if err == nil || !strings.Contains(err.Error(), "costs too much") {
		t.Errorf("a random graph of 3000 vertices: %v", err)
	}
}

func TestTangentDoesNotAllocate(t *testing.T) {
	for _, name := range Names() {
		s := mustParse(t, name, 36, 1)
		tangent, err := convex.NewTangent(s)
		if err != nil {
			t.Fatal(err)
		}
		v := normal(rand.New(rand.NewPCG(1, 1)), s.Dimension(), 1)
		if n := testing.AllocsPerRun(50, func() { tangent.Project(v) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
