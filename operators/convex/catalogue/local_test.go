package catalogue

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/convex"
	"oriel/operators/convex/ball"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
)

// forms returns all local oracles, with the general one also on the sets whose product form is direct.
func forms(t testing.TB, n int, radius float64) map[string]func() (convex.Set, convex.LocalOracle) {
	box := mustParse(t, "box", n, radius)
	l1 := mustParse(t, "l1-ball", n, radius)
	simplex := mustParse(t, "simplex", n, radius)
	product := func(s convex.Set) func() (convex.Set, convex.LocalOracle) {
		return func() (convex.Set, convex.LocalOracle) {
			o, err := convex.NewLocalOracle(s)
			if err != nil {
				t.Fatal(err)
			}
			return s, o
		}
	}
	all := map[string]func() (convex.Set, convex.LocalOracle){
		"box direct": product(box),
		"box general": func() (convex.Set, convex.LocalOracle) {
			return box, oracle.NewVertices(boxVertices{box.(ball.Box)})
		},
		"simplex direct": product(simplex),
		"simplex general": func() (convex.Set, convex.LocalOracle) {
			return simplex, oracle.NewVertices(simplexVertices{simplex.(ball.Simplex)})
		},
		"l1-ball":   product(l1),
		"subsets":   product(mustParse(t, "subsets", n, radius)),
		"partition": product(mustParse(t, "partition", n, radius)),
		"flow":      product(mustParse(t, "flow", n, radius)),
	}
	if n > 1 {
		all["ranking"] = product(mustParse(t, "ranking", n, radius))
		all["trees"] = product(mustParse(t, "trees", n, radius))
	}
	if n == 4 || n == 9 {
		all["matching"] = product(mustParse(t, "matching", n, radius))
	}
	return all
}

// localOptimum returns the least ⟨y, c⟩ over the points y of the set within distance r of x. With a multiplier 1/(2t)
// for the distance, the minimiser is Π(x − t·c). Its distance from x grows with t, so that t is found by bisection.
func localOptimum(s convex.Set, x, c []float64, r float64) float64 {
	at := func(t float64) []float64 {
		y := slices.Clone(x)
		for i := range y {
			y[i] -= t * c[i]
		}
		return slowProject(s, y)
	}
	low, high := 0.0, 1e3*s.Diameter()
	if y := at(high); floats.Distance(x, y, 2) <= r {
		return floats.Dot(y, c)
	}
	for range 60 {
		mid := (low + high) / 2
		if floats.Distance(x, at(mid), 2) > r {
			high = mid
		} else {
			low = mid
		}
	}
	return floats.Dot(at(low), c)
}

// TestLocalOracleContract checks Assumption 1: (1) p is as good as every point within r, (2) |x−p| ≤ ρ·r.
func TestLocalOracleContract(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 9} {
		for name, form := range forms(t, n, 2) {
			if _, o := form(); math.IsInf(o.Ratio(), 1) {
				continue // TestFollowing checks these
			}
			t.Run(fmt.Sprintf("%s/n=%d", name, n), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(n), 5))
				s, o := form()
				trials, slack := tiertest.Runs(50, 150), 1e-9
				if !projected(name) {
					trials, slack = tiertest.Runs(14, 40), 1e-5 // slowParts is slow and only approximate
				}
				for trial := range trials {
					c := normal(rng, n, 1)
					if trial%7 == 0 {
						c[trial%n] = 0
						c[(trial+1)%n] = c[0]
					}
					r := s.Diameter() * math.Exp(-8*rng.Float64())
					x, state := slices.Clone(o.Point()), o.AppendState(nil)
					o.Move(1, r, c)
					p := slices.Clone(o.Point())
					if d := floats.Distance(x, p, 2); d > o.Ratio()*r*(1+1e-12) {
						t.Fatalf("trial %d: |x−p| = %g is more than ρr = %g", trial, d, o.Ratio()*r)
					}
					if best := localOptimum(s, x, c, r); floats.Dot(p, c) > best+slack {
						t.Fatalf("trial %d: cost %v, a point within r has %v", trial, floats.Dot(p, c), best)
					}
					if e := excess(s, p); e > 1e-12 {
						t.Fatalf("trial %d: p infeasible by %g", trial, e)
					}
					if err := o.Restore(state); err != nil {
						t.Fatal(err)
					}
					// Some moves reach faces, others change x only a little.
					o.Move([]float64{1, 0.5, 0.05}[trial%3], r*float64(trial%2+1), c)
				}
			})
		}
	}
}

// TestMoveIsTheConvexStep checks that Move gives (1−α)x + αp, with p from the same oracle at α = 1.
func TestMoveIsTheConvexStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for name, form := range forms(t, 4, 3) {
		_, o := form()
		for range 200 {
			c, r, alpha := normal(rng, 4, 1), 2*rng.Float64(), rng.Float64()
			x, state := slices.Clone(o.Point()), o.AppendState(nil)
			o.Move(1, r, c)
			p := slices.Clone(o.Point())
			if err := o.Restore(state); err != nil {
				t.Fatal(err)
			}
			o.Move(alpha, r, c)
			for i, got := range o.Point() {
				if want := (1-alpha)*x[i] + alpha*p[i]; math.Abs(got-want) > 1e-13 {
					t.Fatalf("%s: x_%d = %v, want %v", name, i, got, want)
				}
			}
		}
	}
}

// counted counts the calls of the linear oracle.
type counted struct {
	oracle.Vertices
	calls *int
}

func (v counted) Minimiser(c []float64) int { *v.calls++; return v.Vertices.Minimiser(c) }

// weights returns the weights of vertices in the state of a general oracle.
func weights(o convex.LocalOracle) (list []float64) {
	for state := o.AppendState(nil); len(state) > 0; state = state[8:] {
		list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(state)))
	}
	return list
}

func TestMoveAddsOneVertexByOneLinearMinimisation(t *testing.T) {
	box, l1, simplex := mustParse(t, "box", 6, 1), mustParse(t, "l1-ball", 6, 1), mustParse(t, "simplex", 6, 1)
	for name, v := range map[string]oracle.Vertices{
		"box": boxVertices{box.(ball.Box)}, "l1-ball": ball.L1Vertices{L1: l1.(ball.L1)},
		"simplex": simplexVertices{simplex.(ball.Simplex)},
	} {
		calls := 0
		o := oracle.NewVertices(counted{v, &calls})
		support := func() int {
			n := 0
			for _, w := range weights(o) {
				if w > 0 {
					n++
				}
			}
			return n
		}
		rng := rand.New(rand.NewPCG(9, 9))
		for step := 1; step <= 2000; step++ {
			before := support()
			o.Move(0.1, 0.3*rng.Float64(), normal(rng, 6, 1))
			if after := support(); after > before+1 {
				t.Fatalf("%s: support grows from %d to %d", name, before, after)
			}
			if calls != step {
				t.Fatalf("%s: %d linear minimisations in %d moves", name, calls, step)
			}
		}
	}
}

// TestFeasibleAfterAMillionMoves checks that points stay feasible although every move rounds. The short form makes 50
// 000 moves.
func TestFeasibleAfterAMillionMoves(t *testing.T) {
	moves := tiertest.Runs(50_000, 1_000_000)
	for _, name := range []string{
		"l1-ball", "simplex", "box", "subsets", "partition", "flow", "matching", "trees", "ranking",
		"subsets-at-most", "partition-at-most", "forests",
	} {
		s := mustParse(t, name, 4, 3)
		o, err := convex.NewLocalOracle(s)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(10, 10))
		c := make([]float64, 4)
		for step := range moves {
			for i := range c {
				c[i] = rng.Float64() - 0.5
			}
			o.Move(0.125, rng.Float64(), c)
			if e := excess(s, o.Point()); e > 1e-15*float64(s.Dimension()) {
				t.Fatalf("%s: step %d infeasible by %g", name, step, e)
			}
			if name == "l1-ball" {
				if e := math.Abs(shape.Sum(weights(o)) - 1); e > 1e-15 {
					t.Fatalf("%s: step %d: weights sum to 1 but for %g", name, step, e)
				}
			}
		}
	}
}

func TestRestoredOracleMovesAlike(t *testing.T) {
	for name, form := range forms(t, 4, 2) {
		rng := rand.New(rand.NewPCG(12, 12))
		_, a := form()
		for range 50 {
			a.Move(0.2, rng.Float64(), normal(rng, 4, 1))
		}
		state := a.AppendState(nil)
		_, b := form()
		if len(state) != b.StateLen() {
			t.Fatalf("%s: state of %d bytes, want %d", name, len(state), b.StateLen())
		}
		if err := b.Restore(state); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			c, r := normal(rng, 4, 1), rng.Float64()
			a.Move(0.2, r, c)
			b.Move(0.2, r, c)
			if !slices.Equal(a.Point(), b.Point()) {
				t.Fatalf("%s: restored oracle goes elsewhere", name)
			}
		}
		before := slices.Clone(a.Point())
		for what, bad := range map[string][]byte{
			"short":    state[1:],
			"empty":    nil,
			"NaN":      oracle.AppendFloats(nil, slices.Repeat([]float64{math.NaN()}, len(state)/8)),
			"too much": oracle.AppendFloats(nil, slices.Repeat([]float64{1e9}, len(state)/8)),
		} {
			if err := a.Restore(bad); err == nil {
				t.Errorf("%s: state %s accepted", name, what)
			}
		}
		if !slices.Equal(before, a.Point()) {
			t.Errorf("%s: a refused state changes the point", name)
		}
	}
}

// TestRatio checks the table of operators/coco/SPEC.md §7.4.
func TestRatio(t *testing.T) {
	for n := 2; n <= 9; n++ {
		root := math.Sqrt(float64(n))
		for name, want := range map[string]float64{
			"box direct": root, "box general": float64(n), "simplex direct": max(1, root/math.Sqrt2),
			"simplex general": root / math.Sqrt2, "l1-ball": 2 * root, "subsets": root, "partition": root,
			"matching": root * math.Sqrt(2*root),
			"flow":     root * math.Sqrt(float64(min(n, 2*((n+1)/2)))),
		} {
			form, ok := forms(t, n, 3)[name]
			if !ok {
				continue
			}
			_, o := form()
			if got := o.Ratio(); math.Abs(got-max(1, want)) > 1e-14*want {
				t.Errorf("%s, n=%d: ρ = %v, want %v", name, n, got, want)
			}
		}
	}
}

func TestBallHasNoLocalOracle(t *testing.T) {
	if _, err := convex.NewLocalOracle(mustParse(t, "l2-ball", 3, 1)); err == nil {
		t.Error("a local oracle on the l2-ball")
	} else {
		t.Log(err)
	}
}

func TestMoveDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, form := range forms(t, 9, 1) {
		_, o := form()
		c := normal(rng, 9, 1)
		if n := testing.AllocsPerRun(100, func() { o.Move(0.1, 0.2, c) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
