package coco

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/loss"
	"oriel/schemas/event"
)

func mustLoss(t testing.TB, name string) loss.Loss {
	t.Helper()
	l, err := loss.Parse(name, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// byOracle lists the sets that have no projection, searched the sets on which only searched steps learn.
var (
	byOracle = []string{"flow", "matching", "vertices", "trees", "trace-norm", "forests"}
	searched = []string{
		"vertices", "trees", "ranking", "spectrahedron", "trace-norm", "subsets-at-most", "partition-at-most", "forests",
	}
)

func mustSet(t testing.TB, name string, n int, radius float64) convex.Set {
	t.Helper()
	spec := catalogue.Spec{Name: name, Dimension: n, Radius: radius}
	switch name {
	case "subsets", "subsets-at-most":
		spec.Pick = max(1, n/2)
	case "partition", "partition-at-most":
		spec.Blocks = []string{"2:1", fmt.Sprintf("%d:%d", n-2, (n-1)/2)}
	case "vertices":
		for i := range 2 * n { // corners of a cross-polytope and, for corners that are repeated, the middle of a side
			corner := slices.Repeat([]string{"0"}, n)
			corner[i/2] = []string{"1", "-1.5"}[i%2]
			spec.Corners = append(spec.Corners, strings.Join(corner, " "))
		}
	case "ranking":
		spec.Places = []string{"1", "0.5"}
	case "trees", "forests": // the graph is a circle
		for i := range n {
			spec.Edges = append(spec.Edges, fmt.Sprintf("v%d>v%d", i, (i+1)%n))
		}
	case "chain": // spanning trees of a graph with two or three edges from each vertex to the next
		spec.Name = "trees"
		for i := range n {
			from := i / 2 % (n / 2)
			spec.Edges = append(spec.Edges, fmt.Sprintf("v%d>v%d", from, from+1))
		}
	case "segment":
		spec.Name = "vertices"
		for _, end := range []float64{-1, 1} {
			spec.Corners = append(spec.Corners, strings.Trim(fmt.Sprint(slices.Repeat([]float64{end}, n)), "[]"))
		}
	case "trace-norm":
		spec.Rows = 2
	case "flow":
		spec.Edges = slices.Repeat([]string{"s>t"}, n)
	}
	s, err := catalogue.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sample returns a valid configuration with the projection update. Tests change the fields that they test.
func sample(t testing.TB, set string, n int) Config {
	t.Helper()
	return Config{
		Update: Projection, Constants: Proved, Loss: mustLoss(t, "linear"), Set: mustSet(t, set, n, 1),
		Clip: 1, StrongConvexity: 0.5, Rounds: 10_000, Failure: 0.01, EmitEvery: 1,
	}
}

// mechanism returns a mechanism that fits the update; ogd gets one without a window.
func mechanism(c Config, window, batch uint64) mechanisms.Config {
	m := mechanisms.Config{
		Name: "tree-gaussian", Batch: batch, Contribution: contribution.OneComponent(c.Set.Dimension(), c.Clip),
		Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, Failure: c.StepFailure(),
		Terms: protection.Terms{Scope: protection.Window{Steps: window}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	if c.Update == OGD {
		m.Name, m.Scope = "once-gaussian", protection.PerStep{}
	}
	return m
}

// open returns a machine over m with noise from the key.
func open(t testing.TB, c Config, m mechanisms.Config, key byte) *Machine {
	t.Helper()
	return openPlan(t, c, m, mechtest.Plan(t, m), key)
}

func openPlan(t testing.TB, c Config, m mechanisms.Config, plan mechanisms.Calibration, key byte) *Machine {
	t.Helper()
	stream, err := mechanisms.Open(m, plan, [32]byte{key})
	if err != nil {
		t.Fatal(err)
	}
	return newMachine(t, c, m, stream)
}

// newMachine returns a machine over a stream of m.
func newMachine(t testing.TB, c Config, m mechanisms.Config, stream *mechanisms.Stream) *Machine {
	t.Helper()
	machine, err := New(c, mustParams(t, c, m), stream)
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// quiet returns a machine over exact sums: without noise, and with error bound 0.
func quiet(t testing.TB, c Config, m mechanisms.Config) *Machine {
	t.Helper()
	return quietPlan(t, c, m, mechtest.Plan(t, m))
}

func quietPlan(t testing.TB, c Config, m mechanisms.Config, plan mechanisms.Calibration) *Machine {
	t.Helper()
	machine, err := build(c, mustParams(t, c, m), mechtest.Planted(t, m, plan, mechtest.Zero{}), 0)
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

func mustParams(t testing.TB, c Config, m mechanisms.Config) Params {
	t.Helper()
	params, err := c.NewParams(m)
	if err != nil {
		t.Fatal(err)
	}
	return params
}

func record(offset int, e event.Event) operators.Record {
	return operators.Record{Identity: noise.Identity{Offset: int64(offset), LeaderEpoch: 1}, Event: e}
}

func linear(v []float64) event.Event {
	return event.Event{Vector: event.Vector{Values: v}, Weight: 1}
}

// direction returns a uniform point on the sphere of radius norm.
func direction(rng *rand.Rand, n int, norm float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	scale := norm / math.Sqrt(floats.Dot(v, v))
	for i := range v {
		v[i] *= scale
	}
	return v
}

func mustTangent(t testing.TB, s convex.Set) convex.Tangent {
	t.Helper()
	tangent, err := convex.NewTangent(s)
	if err != nil {
		t.Fatal(err)
	}
	return tangent
}
