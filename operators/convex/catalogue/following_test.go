package catalogue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
)

// TestFollowing checks that a point moves to a vertex of least cost, for every r, that Toward equals Move with that
// vertex, and that points stay in the set.
func TestFollowing(t *testing.T) {
	for name, n := range map[string]int{
		"trees": 8, "ranking": 6, "spectrahedron": 9, "trace-norm": 8,
		"subsets-at-most": 7, "partition-at-most": 7, "forests": 8,
	} {
		for _, radius := range []float64{1, 0.01, 7} {
			t.Run(fmt.Sprintf("%s/R=%g", name, radius), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(n), 5))
				s := mustParse(t, name, n, radius)
				all, o, linear, v := corners(s), oracle.Follow(s.(oracle.Followed)), convex.NewLinearOracle(s), make([]float64, n)
				if !math.IsInf(o.Ratio(), 1) {
					t.Errorf("ρ = %g", o.Ratio())
				}
				for trial := range 300 {
					c, alpha := normal(rng, n, 1), rng.Float64()
					if trial%5 == 0 {
						for i := range c {
							c[i] = float64(rng.IntN(3) - 1)
						}
					}
					linear.Minimise(v, c)
					if e := excess(s, v); e > 1e-12 {
						t.Fatalf("trial %d: %v infeasible by %g", trial, v, e)
					}
					for _, w := range all {
						if floats.Dot(w, c) < floats.Dot(v, c)-1e-12*radius {
							t.Fatalf("trial %d: vertex %v beats %v", trial, w, v)
						}
					}
					want := slices.Clone(o.Point())
					floats.Scale(1-alpha, want)
					floats.AddScaled(want, alpha, v)
					state := o.AppendState(nil)
					o.Move(alpha, 0, c)
					got := slices.Clone(o.Point())
					if floats.Distance(got, want, 2) > 1e-13*s.MaxNorm() {
						t.Fatalf("trial %d: at %v, want %v", trial, got, want)
					}
					if e := excess(s, got); e > 1e-12 {
						t.Fatalf("trial %d: infeasible by %g", trial, e)
					}
					if err := o.Restore(state); err != nil {
						t.Fatal(err)
					}
					o.Toward(alpha, v)
					if !slices.Equal(got, o.Point()) {
						t.Fatalf("trial %d: towards the vertex %v, by a move %v", trial, o.Point(), got)
					}
				}
			})
		}
	}
}
