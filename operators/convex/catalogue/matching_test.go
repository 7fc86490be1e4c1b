package catalogue

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex"
	"oriel/operators/convex/choice"
	"oriel/operators/convex/oracle"
)

func TestMatchingsOfNoSquareAreRefused(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 8, 10} {
		_, err := Parse(Spec{Name: "matching", Dimension: n, Radius: 1})
		if err == nil || !strings.Contains(err.Error(), "not the square of 2 or more") {
			t.Errorf("%d dimensions: %v", n, err)
		}
	}
}

// matchings finds the cheapest and the dearest matchings.
type matchings interface {
	convex.LinearOracle
	oracle.ZeroOne
}

// TestMatchingsAreTheBest compares the linear oracle with every matching, also with equal costs. It also compares the
// most expensive matching among positive entries with every matching among them.
func TestMatchingsAreTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for side := 2; side <= 5; side++ {
		m := mustParse(t, "matching", side*side, 2).(choice.Matching)
		all, a, got := corners(m), convex.NewLinearOracle(m).(matchings), make([]float64, side*side)
		for trial := range 200 {
			c := normal(rng, side*side, 1)
			if trial%3 == 0 {
				for i := range c {
					c[i] = float64(rng.IntN(3) - 1)
				}
			}
			a.Minimise(got, c)
			if excess(m, got) > 0 {
				t.Fatalf("%v is no matching", got)
			}
			x := make([]float64, side*side)
			for i := range x {
				x[i] = float64(rng.IntN(3))
			}
			worst, some := math.Inf(-1), false
			for _, v := range all {
				if floats.Dot(v, c) < floats.Dot(got, c)-1e-12 {
					t.Fatalf("matching %v beats %v", v, got)
				}
				within := true
				for i, part := range v {
					within = within && (part == 0 || x[i] > 0)
				}
				if within {
					worst, some = max(worst, floats.Dot(v, c)), true
				}
			}
			vertex := a.Worst(c, x)
			if (vertex != nil) != some {
				t.Fatalf("%v: a matching in it is %t, found %v", x, some, vertex)
			}
			total := 0.0
			for _, i := range vertex {
				total += 2 * c[i]
				if x[i] == 0 {
					t.Fatalf("%v: coordinate %d is taken", x, i)
				}
			}
			if some && math.Abs(total-worst) > 1e-12 {
				t.Fatalf("the worst costs %g, found %g", worst, total)
			}
		}
	}
}

func TestDiameterOfMatchings(t *testing.T) {
	for side := 2; side <= 4; side++ {
		m := mustParse(t, "matching", side*side, 3).(choice.Matching)
		far, long := 0.0, 0.0
		for _, v := range corners(m) {
			for _, w := range corners(m) {
				far = max(far, floats.Distance(v, w, 2))
			}
			long = max(long, math.Sqrt(floats.Dot(v, v)))
		}
		if math.Abs(far/m.Diameter()-1) > 1e-14 || math.Abs(long/m.MaxNorm()-1) > 1e-14 {
			t.Errorf("side %d: %g and %g, said %g and %g", side, far, long, m.Diameter(), m.MaxNorm())
		}
		v := normal(rand.New(rand.NewPCG(1, 1)), side*side, 1)
		tangent := slices.Clone(v)
		project(t, m, tangent)
		for i := range v {
			v[i] -= tangent[i] // v becomes orthogonal to every difference of points of the set
		}
		for _, a := range corners(m) {
			if gone := floats.Dot(v, a) - floats.Dot(v, corners(m)[0]); math.Abs(gone) > 1e-13 {
				t.Errorf("side %d: tangent loses %g along the set", side, gone)
			}
		}
	}
}

// TestBalanceOfMatchings checks that balance corrects a point that is off by rounding.
func TestBalanceOfMatchings(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for side := 2; side <= 6; side++ {
		m := mustParse(t, "matching", side*side, 5).(choice.Matching)
		a, x := convex.NewLinearOracle(m).(matchings), make([]float64, side*side)
		for range 300 {
			clear(x)
			for left := 1.0; left > 0; {
				share := min(left, rng.Float64())
				for _, i := range a.Best(normal(rng, side*side, 1)) {
					x[i] += 5 * share * (1 + 1e-9*rng.Float64())
				}
				left -= share
			}
			before := slices.Clone(x)
			m.Settle(x)
			if e := excess(m, x); e > 1e-8 || floats.Distance(before, x, 2) > 1e-7 {
				t.Fatalf("off by %g, moved by %g", e, floats.Distance(before, x, 2))
			}
		}
	}
}
