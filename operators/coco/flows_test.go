package coco

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
)

// roads is an acyclic graph of 40 vertices and 300 edges, most of them short.
func roads(t testing.TB, seed uint64) convex.Set {
	t.Helper()
	rng, known, edges := rand.New(rand.NewPCG(seed, 1)), map[string]bool{}, []string(nil)
	add := func(from, to int) {
		if edge := fmt.Sprintf("v%d>v%d", from, to); !known[edge] {
			known[edge], edges = true, append(edges, edge)
		}
	}
	for i := range 39 { // an edge out of each vertex, and an edge into each vertex
		add(i, min(39, i+1+rng.IntN(4)))
		add(max(0, i-rng.IntN(4)), i+1)
	}
	for len(edges) < 300 {
		from := rng.IntN(39)
		add(from, from+1+rng.IntN(min(12, 39-from)))
	}
	s, err := catalogue.Parse(catalogue.Spec{Name: "flow", Dimension: len(edges), Radius: 1, Edges: edges})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// world defines the mean costs at a step: a mixture of two vectors, where share is the weight of the second.
type world struct {
	means [2][]float64
	share func(step int) float64
}

// drive feeds a machine the costs of a world. It returns mean costs: of the decisions, of the cheapest path at each
// step, and of the set's start.
func drive(m *Machine, s convex.Set, w world, steps int, seed uint64) (cost, least, start float64) {
	counted := operators.ByCount(m)
	rng, n := rand.New(rand.NewPCG(seed, 7)), s.Dimension()
	linearOracle := convex.NewLinearOracle(s)
	now, path, first := make([]float64, n), make([]float64, n), make([]float64, n)
	s.Start(first)
	for step := range steps {
		share, v := w.share(step), make([]float64, n)
		for i := range v {
			now[i] = (1-share)*w.means[0][i] + share*w.means[1][i]
			v[i] = min(1, max(0, now[i]+0.2*rng.NormFloat64()))
		}
		linearOracle.Minimise(path, now)
		cost += floats.Dot(m.update.point(), now) / float64(steps)
		least += floats.Dot(path, now) / float64(steps)
		start += floats.Dot(first, now) / float64(steps)
		counted.Add(nil, record(step, linear(v)))
	}
	return cost, least, start
}

// private returns a machine with searched steps over roads at ε, with a memory or, if memory is 0, a window of 1024.
// The clip is the root mean square of uniform costs in [0, 1], after the projection to the tangent space if full is
// set. λ_0 is start times the clip.
func private(t testing.TB, s convex.Set, epsilon float64, memory uint64, full bool, start float64, key byte) *Machine {
	t.Helper()
	c := sample(t, "box", 1)
	c.Update, c.Constants, c.Set, c.StrongConvexity = LLO, Search, s, 1e-4
	costs, clip := operator{Config: c}.Costs(), 0.0
	if clip = math.Sqrt(float64(s.Dimension()) / 3); full {
		clip = math.Hypot(0.5*costs.Ones, math.Sqrt(float64(costs.Directions)/12))
	}
	c.Clip, c.StartRegularizer = clip, start*clip
	m := mechanisms.Config{
		Name: "blt", Batch: 1, Contribution: contribution.OneComponent(s.Dimension(), c.Clip),
		Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6},
		Terms:  protection.Terms{Scope: protection.Window{Steps: 1024}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	if memory > 0 {
		m.Scope = protection.Decay{Steps: memory}
	}
	machine, err := New(c, mustParams(t, c, m), mechtest.Open(t, m, [32]byte{key}))
	if err != nil {
		t.Fatal(err)
	}
	if !full {
		machine.tangent = everyDirection(t, s.Dimension())
	}
	return machine
}

// worldOf draws the two vectors of mean costs.
func worldOf(n int, seed uint64, share func(step int) float64) (w world) {
	rng := rand.New(rand.NewPCG(seed, 3))
	w.share = share
	for k := range w.means {
		for range n {
			w.means[k] = append(w.means[k], 0.2+0.6*rng.Float64())
		}
	}
	return w
}

// TestFlowsLearnMoreOnTheirTangentSpace measures learning from 6000 events with constant mean costs on 300 edges at ε =
// 1. Each step uses the decision that was public before it. The difference in cost between the start and the cheapest
// path is 100 %. With the projection to the tangent space, decisions must save more than 82 % of it. Without it, they
// need a larger clip and save at least 3 points less. Seeds are fixed, so the figures are equal in each run.
func TestFlowsLearnMoreOnTheirTangentSpace(t *testing.T) {
	for seed := range uint64(tiertest.Runs(1, 4)) {
		s := roads(t, seed)
		w := worldOf(s.Dimension(), seed, func(int) float64 { return 0 })
		learned := func(whole bool) float64 {
			cost, least, start := drive(private(t, s, 1, 0, whole, 100, byte(seed)), s, w, 6000, seed)
			return (start - cost) / (start - least)
		}
		whole, earlier := learned(true), learned(false)
		t.Logf("seed %d: %.3f, without the projection %.3f", seed, whole, earlier)
		if !(whole > 0.82) || !(whole > earlier+0.03) {
			t.Errorf("seed %d: %.3f is learned, without the projection %.3f", seed, whole, earlier)
		}
	}
}

// TestSearchWithAMemoryFollowsSwitches checks costs that switch between two worlds, at an ε with hardly any noise. The
// excess cost over the best path of each step must be less than half with a memory of 256 steps, compared with a prefix
// sum.
func TestSearchWithAMemoryFollowsSwitches(t *testing.T) {
	s := roads(t, 0)
	w := worldOf(s.Dimension(), 0, func(step int) float64 { return float64(step / 1000 % 2) })
	above := func(memory uint64) float64 {
		cost, least, _ := drive(private(t, s, 1e4, memory, true, 0.1, 1), s, w, 4000, 0)
		return cost - least
	}
	with, without := above(256), above(0)
	t.Logf("above the best path: %.3f with a memory, %.3f without", with, without)
	if !(with < without/2) {
		t.Errorf("above the best path: %.3f with a memory, %.3f without", with, without)
	}
}
