package coco

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// remembering returns a mechanism whose sums decay.
func remembering(c Config, memory, batch uint64) mechanisms.Config {
	m := mechanism(c, 4, batch)
	m.Name, m.Scope = "blt", protection.Decay{Steps: memory}
	return m
}

// TestDecisionsWithMemoryMinimiseTheDiscountedObjective checks SPEC.md §5.2, with sums and weights computed from their
// definition: x_{t+1} minimises ⟨S_t, x⟩ + ½(µB·N_t + λ_0)|x|² over the set. Decisions must state the memory.
func TestDecisionsWithMemoryMinimiseTheDiscountedObjective(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, set := range []string{"l2-ball", "l1-ball", "simplex", "box"} {
		for _, batch := range []uint64{1, 3} {
			c := sample(t, set, 4)
			c.StartRegularizer = 2
			machine := quiet(t, c, remembering(c, 8, batch))
			counted := operators.ByCount(machine)
			gamma := float64(decay.Decay(8)) / (1 << 30)
			sum, weight, added := make([]float64, 4), 0.0, make([]float64, 4)
			for i := range 60 * int(batch) {
				v := direction(rng, 4, 0.9*rng.Float64())
				tangent := append([]float64(nil), v...)
				mustTangent(t, c.Set).Project(tangent)
				for k, x := range tangent {
					added[k] += x
				}
				decisions := counted.Add(nil, record(i, linear(v)))
				if len(decisions) == 0 {
					continue
				}
				weight = gamma*weight + 1
				for k := range sum {
					sum[k] = gamma*sum[k] + added[k]
				}
				clear(added)
				curvature := c.StrongConvexity*float64(batch)*weight + c.StartRegularizer
				objective := func(x []float64) float64 { return floats.Dot(sum, x) + curvature/2*floats.Dot(x, x) }
				x := append([]float64(nil), decisions[0].Point...)
				best := objective(x)
				for range 40 { // no step towards any other point of the set lowers the objective
					other := make([]float64, 4)
					projection, y := machine.update.(*projected).projection, direction(rng, 4, 2)
					projection.Project(other, y)
					for k := range other {
						other[k] = x[k] + 1e-3*(other[k]-x[k])
					}
					if value := objective(other); value < best-1e-8 {
						t.Fatalf("%s, B = %d, step %d: %g at %v, %g at %v", set, batch, decisions[0].Step, best, x, value, other)
					}
				}
				if extras := decisions[0].Extras; len(extras) != 1 || extras[0].Number != 8 {
					t.Fatalf("extras %+v", extras)
				}
			}
		}
	}
}

// TestMemoryFollowsAChange checks that decaying sums follow a change of the costs: decisions turn to the new optimum,
// while decisions from a prefix sum stay at the old one.
func TestMemoryFollowsAChange(t *testing.T) {
	c := sample(t, "l2-ball", 2)
	forgets, keeps := operators.ByCount(
		quiet(t, c, remembering(c, 16, 1)),
	), operators.ByCount(
		quiet(t, c, mechanism(c, 1024, 1)),
	)
	at := func(m *operators.Counted, i int, x float64) float64 {
		return m.Add(nil, record(i, linear([]float64{x, 0})))[0].Point[0]
	}
	var new, old float64
	for i := range 400 {
		x := 0.9
		if i >= 300 {
			x = -0.9
		}
		new, old = at(forgets, i, x), at(keeps, i, x)
	}
	if !(new > 0.9) || !(old < 0) {
		t.Errorf("after a change: %g with memory, %g without", new, old)
	}
}

// TestUpdatesThatHaveNoMemory checks that a memory is refused with proved constants of llo and with OwnConvexity,
// because their bounds hold only for sums that do not decay.
func TestUpdatesThatHaveNoMemory(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Update = LLO },
		func(c *Config) { c.OwnConvexity = true },
		func(c *Config) { c.Update, c.Constants, c.OwnConvexity = LLO, Search, true },
	} {
		c := sample(t, "box", 2)
		change(&c)
		m := remembering(c, 8, 1)
		m.Failure = 0.01
		stream := mechtest.Open(t, m, [32]byte{1})
		if _, err := New(c, Params{}, stream); err == nil ||
			!strings.Contains(err.Error(), "with memory 8: only projection, and llo with constants search") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestMemoryOfConstants checks the errors of settings: they name the constants that allow no memory and the reason.
// Constants search allow one.
func TestMemoryOfConstants(t *testing.T) {
	for _, c := range []struct{ constants, want string }{
		{Proved, "ORIEL_CONSTANTS: proved: these constants bound regret of sums that do not decay"},
		{Search, ""},
	} {
		m := mechanisms.Config{
			Name: "blt", Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
			Terms: protection.Terms{Scope: protection.Decay{Steps: 64}, Unit: protection.Event{Exchange: dp.Replace}},
		}
		_, err := optest.Configure(Definition, m, "UPDATE=llo", "CONSTANTS="+c.constants, "LOSS=linear",
			"SET=matching", "RADIUS=1", "DIMENSION=9", "STRONG_CONVEXITY=0.001", "CLIP=1", "CONFIDENCE=0.99")
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.constants, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "ORIEL_ROUNDS") {
			t.Errorf("%s: ORIEL_ROUNDS is asked for, too: %v", c.constants, err)
		}
	}
}

// TestSearchWithAMemoryFollowsAChange changes which path is best after a long time. A searched step with a memory
// reaches the new path after a few memories; without a memory it is still on the old one.
func TestSearchWithAMemoryFollowsAChange(t *testing.T) {
	c := sample(t, "box", 1)
	c.Update, c.Constants, c.Set, c.StrongConvexity = LLO, Search, square(t, 3), 0.01
	edges := c.Set.Dimension()
	forgets, keeps := operators.ByCount(
		quiet(t, c, remembering(c, 16, 1)),
	), operators.ByCount(
		quiet(t, c, mechanism(c, 1024, 1)),
	)
	var cost [2]float64
	for i := range 800 {
		v := make([]float64, edges)
		v[0] = 0.5 // the cheap edge is the first one out of the source, later the second one
		if i >= 600 {
			v[0], v[1] = 0, 0.5
		}
		for k, m := range []*operators.Counted{forgets, keeps} {
			x := m.Add(nil, record(i, linear(v)))[0].Point
			cost[k] = x[1]
		}
	}
	if !(cost[0] < 0.01) || !(cost[1] > 0.99) {
		t.Errorf("on the dearer edge: %g of the flow with a memory, %g without", cost[0], cost[1])
	}
}

// TestConformanceOfSearchWithMemory runs the conformance suite on searched steps with a memory, on each set without a
// projection. From step 17 on, means cover fewer than all steps.
func TestConformanceOfSearchWithMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, set := range byOracle {
		c := sample(t, set, 4)
		c.Update, c.Constants = LLO, Search
		events := make([]event.Event, 48)
		for i := range events {
			events[i] = linear(direction(rng, 4, rng.Float64()))
		}
		m := remembering(c, 64, 2)
		optest.Run(t, func(tb testing.TB, open optest.Open) operators.Machine {
			return newMachine(tb, c, m, open(m))
		}, events)
	}
}

// TestConformanceWithMemory runs the conformance suite with a memory: restart, null events, causality, and decisions as
// post-processing of releases.
func TestConformanceWithMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, batch := range []uint64{1, 3} {
		c := sample(t, "l2-ball", 3)
		c.Loss = mustLoss(t, "logistic")
		events := make([]event.Event, 30)
		for i := range events {
			events[i] = event.Event{
				Vector: event.Vector{Values: []float64{rng.Float64(), rng.Float64(), rng.Float64()}}, Label: float64(1 - i%2*2),
				Weight: 1,
			}
		}
		m := remembering(c, 4, batch)
		optest.Run(t, func(tb testing.TB, open optest.Open) operators.Machine {
			return newMachine(tb, c, m, open(m))
		}, events)
	}
}

// TestDampingWithMemoryIsThatOfDecisions checks that the noise of a decision, as `oriel plan` prints it, is the root
// mean square over many runs.
func TestDampingWithMemoryIsThatOfDecisions(t *testing.T) {
	c := sample(t, "box", 8)
	c.Set = mustSet(t, "box", 8, 1e9) // the set is so large that nothing is projected
	m := remembering(c, 64, 1)
	plan := mechtest.Plan(t, m)
	damping := operator{Config: c}.Describe(m).Damping
	if damping == nil {
		t.Fatalf("%+v", damping)
	}
	const runs, steps = 300, 200
	total := 0.0
	for run := range runs {
		machine := openPlan(t, c, m, plan, byte(run%250))
		counted := operators.ByCount(machine)
		var last []operators.Decision
		for i := range steps {
			r := record(i+1000*run, event.Event{})
			r.Null = true
			last = counted.Add(last[:0], r)
		}
		total += floats.Dot(last[0].Point, last[0].Point)
	}
	unit := plan.Scale.Float64() * plan.Grid.Unit()
	want := unit * math.Sqrt(8*plan.Decay.VarianceAt(steps)) / damping.After(m.Scope, steps)
	// The sum has a chi-square law with 2400 degrees of freedom: its root mean square is within 6.11/√4800 at 1e-9.
	if got := math.Sqrt(total / runs); math.Abs(got/want-1) > 6.11/math.Sqrt(2*8*runs) {
		t.Errorf("rms %g, want %g", got, want)
	}
}
