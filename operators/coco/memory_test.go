package coco

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas"
)

// remembering is a mechanism whose sums decay.
func remembering(c Config, memory, batch uint64) mechanisms.Config {
	m := mechanism(c, 4, batch)
	m.Name, m.Scope = "blt", protection.Decay{Steps: memory}
	return m
}

// SPEC.md §5.2, line for line, with sums and weights as they are defined: x_{t+1} minimises
// ⟨S_t, x⟩ + ½(µB·N_t + λ_0)|x|² over the set, and the decision says the memory.
func TestDecisionsWithMemoryMinimiseTheDiscountedObjective(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, set := range []string{"l2-ball", "l1-ball", "simplex", "box"} {
		for _, batch := range []uint64{1, 3} {
			c := sample(t, set, 4)
			c.StartRegularizer = 2
			machine := quiet(t, c, remembering(c, 8, batch))
			gamma := float64(decay.Decay(8)) / (1 << 30)
			sum, weight, leaf := make([]float64, 4), 0.0, make([]float64, 4)
			for i := range 60 * int(batch) {
				v := direction(rng, 4, 0.9*rng.Float64())
				tangent := append([]float64(nil), v...)
				mustTangent(t, c.Set).Project(tangent)
				for k, x := range tangent {
					leaf[k] += x
				}
				decisions := machine.Add(nil, record(i, linear(v)))
				if len(decisions) == 0 {
					continue
				}
				weight = gamma*weight + 1
				for k := range sum {
					sum[k] = gamma*sum[k] + leaf[k]
				}
				clear(leaf)
				curvature := c.StrongConvexity*float64(batch)*weight + c.StartRegularizer
				objective := func(x []float64) float64 { return floats.Dot(sum, x) + curvature/2*floats.Dot(x, x) }
				x := append([]float64(nil), decisions[0].Point...)
				best := objective(x)
				for range 40 { // no step towards another point of the set is downhill
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

// The objective forgets: after a change of the world decisions turn round, where those of a prefix sum still say what
// was.
func TestMemoryFollowsAChange(t *testing.T) {
	c := sample(t, "l2-ball", 2)
	forgets, keeps := quiet(t, c, remembering(c, 16, 1)), quiet(t, c, mechanism(c, 1024, 1))
	at := func(m *Machine, i int, x float64) float64 {
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

func TestOnlyProjectionHasAMemory(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Update = LLO }, func(c *Config) { c.OwnConvexity = true },
	} {
		c := sample(t, "box", 2)
		change(&c)
		m := remembering(c, 8, 1)
		m.Failure = 0.01
		stream := mechtest.Open(t, m, [32]byte{1})
		if _, err := New(c, Params{}, stream); err == nil ||
			!strings.Contains(err.Error(), "with memory 8: only projection") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The conformance suite over a memory: restart, null events, causality, and decisions as post-processing of releases.
func TestConformanceWithMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, batch := range []uint64{1, 3} {
		c := sample(t, "l2-ball", 3)
		c.Loss = mustLoss(t, "logistic")
		events := make([]schemas.Event, 30)
		for i := range events {
			events[i] = schemas.Event{
				Vector: schemas.Vector{Values: []float64{rng.Float64(), rng.Float64(), rng.Float64()}}, Label: float64(1 - i%2*2),
				Weight: 1,
			}
		}
		m := remembering(c, 4, batch)
		optest.Run(t, func(tb testing.TB, open optest.Open) operators.Machine {
			return newMachine(tb, c, m, open(m))
		}, events)
	}
}

// The noise of a decision, as plan prints it, is the rms of many runs.
func TestDampingWithMemoryIsThatOfDecisions(t *testing.T) {
	c := sample(t, "box", 8)
	c.Set = mustSet(t, "box", 8, 1e9) // nothing is projected
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
		var last []operators.Decision
		for i := range steps {
			r := record(i+1000*run, schemas.Event{})
			r.Null = true
			last = machine.Add(last[:0], r)
		}
		total += floats.Dot(last[0].Point, last[0].Point)
	}
	unit := plan.Scale.Float64() * plan.Grid.Unit()
	want := unit * math.Sqrt(8*plan.Decay.VarianceAt(steps)) / damping.After(m.Scope, steps)
	// A chi square of 2400 degrees: its root is within 6.11/√4800 at 1e-9.
	if got := math.Sqrt(total / runs); math.Abs(got/want-1) > 6.11/math.Sqrt(2*8*runs) {
		t.Errorf("rms %g, want %g", got, want)
	}
}
