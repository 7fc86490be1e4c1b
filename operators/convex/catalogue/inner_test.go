package catalogue

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex"
	"oriel/operators/convex/ball"
	"oriel/operators/convex/hull"
	"oriel/operators/convex/shape"
)

// sides returns a box with different ends for each coordinate. Its shortest side is neither the first nor the last.
func sides(t testing.TB) convex.Set {
	t.Helper()
	s, err := Parse(Spec{Name: "box", Dimension: 3, Low: []string{"0", "-1", "5"}, High: []string{"60", "1", "8"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEndsOfABox checks that each coordinate has its own ends, that the start is the middle, and that a cube equals the
// box with its ends.
func TestEndsOfABox(t *testing.T) {
	s := sides(t)
	box, x := s.(ball.Box), make([]float64, 3)
	if s.Start(x); !floats.Equal(x, []float64{30, 0, 6.5}) {
		t.Errorf("the start is %v", x)
	}
	if box.Project(x, []float64{-1, 7, 6.5}); !floats.Equal(x, []float64{0, 1, 6.5}) {
		t.Errorf("the projection is %v", x)
	}
	if box.Minimise(x, []float64{1, -1, 0}); !floats.Equal(x, []float64{0, 1, 8}) {
		t.Errorf("the cheapest corner is %v", x)
	}
	if want := math.Sqrt(60*60 + 2*2 + 3*3); math.Abs(s.Diameter()-want) > 1e-12*want {
		t.Errorf("diameter %g, want %g", s.Diameter(), want)
	}
	if want := math.Sqrt(60*60 + 1 + 8*8); math.Abs(s.MaxNorm()-want) > 1e-12*want {
		t.Errorf("largest norm %g, want %g", s.MaxNorm(), want)
	}
	cube, err := Parse(Spec{Name: "box", Dimension: 3, Low: []string{"-2"}, High: []string{"2"}})
	if err != nil {
		t.Fatal(err)
	}
	twin := mustParse(t, "box", 3, 2)
	if math.Abs(cube.Diameter()-twin.Diameter()) > 1e-12 || math.Abs(cube.MaxNorm()-twin.MaxNorm()) > 1e-12 {
		t.Errorf("%+v, of a radius %+v", cube, twin)
	}
}

// innerSets returns the sets whose inner balls are tested. For the sets in exact, the ball must be the largest about
// its centre; for the sets in some, any ball in the set is accepted.
func innerSets(t testing.TB) (exact, some []convex.Set) {
	t.Helper()
	exact = append(exact, sides(t))
	for _, n := range []int{2, 3, 5, 8} {
		for _, name := range []string{"l2-ball", "l1-ball", "box", "simplex", "subsets", "partition", "ranking", "flow"} {
			exact = append(exact, mustParse(t, name, n, 2))
		}
		for _, name := range []string{"trees", "vertices", "forests", "subsets-at-most", "partition-at-most"} {
			some = append(some, mustParse(t, name, n, 2))
		}
	}
	for _, n := range []int{4, 9} {
		for _, name := range []string{"matching", "spectrahedron", "trace-norm"} {
			exact = append(exact, mustParse(t, name, n, 2))
		}
	}
	for _, corners := range [][]string{{"0 0", "1 0", "0 2"}, {"0 1 5", "0 3 5"}, {"1 1 0", "1 0 1", "0 1 1", "1 1 1"}} {
		s, err := Parse(Spec{Name: "vertices", Dimension: len(corners[0])/2 + 1, Radius: 1, Corners: corners})
		if err != nil {
			t.Fatal(err)
		}
		some = append(some, s)
	}
	return exact, some
}

// outside returns a measure of how far x is outside a set: its excess or, for a hull, the distance that a slow
// conditional gradient method finds.
func outside(s convex.Set, x []float64) float64 {
	h, listed := s.(hull.Hull)
	if !listed {
		return excess(s, x)
	}
	return floats.Distance(slowHull(h, x), x, 2) / h.D
}

// slowHull approximates the point of a hull that is nearest to x, by the conditional gradient method with away steps,
// with a weight for each point.
func slowHull(h hull.Hull, x []float64) []float64 {
	weights, y := make([]float64, len(h.Corners)), make([]float64, len(x))
	h.StartWeights(weights)
	for range 20_000 {
		clear(y)
		for id, weight := range weights {
			h.Add(y, id, weight)
		}
		slope := make([]float64, len(x))
		floats.SubTo(slope, y, x)
		best, worst := h.Minimiser(slope), -1
		for id, weight := range weights {
			if weight > 0 && (worst < 0 || h.Cost(id, slope) > h.Cost(worst, slope)) {
				worst = id
			}
		}
		gap, long := h.Cost(worst, slope)-h.Cost(best, slope), shape.Length(h.Corners[worst], h.Corners[best])
		if gap <= 1e-13*h.D*h.D {
			break
		}
		step := min(weights[worst], gap/(long*long))
		weights[worst] -= step
		weights[best] += step
	}
	return y
}

// TestInnerBallsAreInTheirSets checks that the ball is in the set, in many directions of the tangent space and in the
// directions of all faces of small sets. If the ball must be the largest about its centre, a radius larger by a
// hundredth leaves the set.
func TestInnerBallsAreInTheirSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	exact, some := innerSets(t)
	for k, s := range append(exact, some...) {
		n := s.Dimension()
		centre, u, x := make([]float64, n), make([]float64, n), make([]float64, n)
		radius, err := convex.Inner(s, centre)
		tangent, errSpace := convex.NewTangent(s)
		if err != nil || errSpace != nil {
			if errSpace == nil && tangent.Dimension() == 0 {
				continue // the set is a single point
			}
			t.Fatalf("%s, n = %d: %v, %v", s.Name(), n, err, errSpace)
		}
		left := false
		for direction := range 200 + 2<<n {
			for i := range u {
				switch mask := direction / 2; {
				case direction >= 2<<n:
					u[i] = rng.NormFloat64()
				default:
					u[i] = float64(mask>>i&1) * float64(1-2*(direction&1))
				}
			}
			tangent.Project(u)
			long := floats.Norm(u, 2)
			if long < 1e-9 {
				continue
			}
			floats.AddScaledTo(x, centre, radius*(1-1e-7)/long, u)
			if off := outside(s, x); off > 1e-7 {
				t.Fatalf("%s, n = %d, radius %g: %v is %g outside", s.Name(), n, radius, x, off)
			}
			floats.AddScaledTo(x, centre, 1.01*radius/long, u)
			left = left || outside(s, x) > 1e-5
		}
		if k < len(exact) && !left {
			t.Errorf("%s, n = %d: there is a ball larger than %g", s.Name(), n, radius)
		}
	}
}

// TestInnerBallsThatAreKnown checks balls that were computed by hand.
func TestInnerBallsThatAreKnown(t *testing.T) {
	flow := func(edges ...string) convex.Set {
		s, err := Parse(Spec{Name: "flow", Dimension: len(edges), Radius: 1, Edges: edges})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		set  convex.Set
		want float64
	}{
		{mustParse(t, "simplex", 5, 1), 1 / math.Sqrt(20)},
		{mustParse(t, "matching", 4, 2), 2},
		{mustParse(t, "trace-norm", 4, 2), math.Sqrt2},
		{mustParse(t, "spectrahedron", 4, 2), math.Sqrt2},
		{flow("a>b", "a>b", "b>c"), 1 / math.Sqrt2},
		{flow("a>b", "a>c", "b>d", "c>d"), 1},
		// with even shares the smallest flow is 1/8, with shares by paths it is 1/4: the radius is at least 1/4
		{flow("a>z", "a>b", "b>z", "b>c", "c>z", "c>z"), 0.25},
	} {
		centre := make([]float64, c.set.Dimension())
		got, err := convex.Inner(c.set, centre)
		if far := c.set.Name() != "flow" && got > c.want*(1+1e-9); err != nil || got < c.want*(1-1e-9) || far {
			t.Errorf("%s: %g, %v; want %g", c.set.Name(), got, err, c.want)
		}
	}
	if _, err := convex.Inner(flow("a>b", "b>c"), make([]float64, 2)); err == nil {
		t.Error("one path has a ball")
	}
}
