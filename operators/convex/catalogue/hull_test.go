package catalogue

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex"
	"oriel/operators/convex/hull"
)

func TestHullsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		corners []string
		want    string
	}{
		{[]string{"1 2"}, "1 vertices: not 2"},
		{[]string{"1 2", "1 2 3"}, "vertex 2: not 2 numbers"},
		{[]string{"1 2", "1 x"}, "vertex 2: not 2 numbers"},
		{[]string{"NaN 2", "1 1"}, "vertex 1: not 2 numbers"},
		{[]string{"1 2", "1 2e15"}, "vertex 2: not 2 numbers"},
		{[]string{"1 2", "1 2"}, "0 apart at most"},
	} {
		_, err := Parse(Spec{Name: "vertices", Dimension: 2, Radius: 1, Corners: c.corners})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.corners, err, c.want)
		}
	}
}

// TestHull checks that the linear oracle returns the best point, and that diameter and largest norm equal those of the
// listed points. A Move with a radius that covers the set must give (1−α)x + αv for the best point v.
func TestHull(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{1, 2, 5} {
		h := mustParse(t, "vertices", n, 3).(hull.Hull)
		o, got := h.LocalOracle(), make([]float64, n)
		h.Start(got)
		if floats.Distance(got, o.Point(), 2) > 1e-14 {
			t.Errorf("starts at %v, want %v", o.Point(), got)
		}
		far, long := 0.0, 0.0
		for _, a := range h.Corners {
			for _, b := range h.Corners {
				far = max(far, floats.Distance(a, b, 2))
			}
			long = max(long, floats.Norm(a, 2))
		}
		if math.Abs(far/h.Diameter()-1) > 1e-14 || math.Abs(long/h.MaxNorm()-1) > 1e-14 || !math.IsInf(o.Ratio(), 1) {
			t.Errorf("%g and %g, said %g and %g, ρ = %g", far, long, h.Diameter(), h.MaxNorm(), o.Ratio())
		}
		for range 300 {
			c, alpha := normal(rng, n, 1), rng.Float64()
			convex.NewLinearOracle(h).Minimise(got, c)
			for _, corner := range h.Corners {
				if floats.Dot(corner, c) < floats.Dot(got, c)-1e-12 {
					t.Fatalf("%v beats %v", corner, got)
				}
			}
			want := slices.Clone(o.Point())
			floats.Scale(1-alpha, want)
			floats.AddScaled(want, alpha, got)
			o.Move(alpha, h.Diameter(), c)
			if floats.Distance(want, o.Point(), 2) > 1e-13 {
				t.Fatalf("moved to %v, want %v", o.Point(), want)
			}
		}
	}
}
