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
	"oriel/mechanisms/decay"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
)

// square returns a flow on a grid of side × side vertices with edges to the right and down.
func square(t testing.TB, side int) convex.Set {
	t.Helper()
	var edges []string
	name := func(i, j int) string { return fmt.Sprintf("%d.%d", i, j) }
	for i := range side {
		for j := range side {
			if j+1 < side {
				edges = append(edges, name(i, j)+">"+name(i, j+1))
			}
			if i+1 < side {
				edges = append(edges, name(i, j)+">"+name(i+1, j))
			}
		}
	}
	s, err := catalogue.Parse(catalogue.Spec{Name: "flow", Dimension: len(edges), Radius: 1, Edges: edges})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// followed runs a local update under a drifting mean of gradients. It returns the costs of its points over the last
// quarter of steps, minus the costs of the best vertex over these steps.
func followed(t *testing.T, c Config, steps uint64) (excess float64) {
	t.Helper()
	n := c.Set.Dimension()
	o := &objective{convexity: c.StrongConvexity, start: c.StartRegularizer, scope: protection.Window{Steps: 8}}
	u, err := newLocal(c, o, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	mean, sum, total, best := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range mean {
		mean[i] = rng.Float64()
	}
	for step := uint64(1); step <= steps; step++ {
		for i := range sum {
			g := mean[i] + 0.3*rng.NormFloat64()
			sum[i] += g
			if step > steps*3/4 {
				total[i] += g
				excess += g * u.point()[i]
			}
		}
		u.step(step, sum)
	}
	convex.NewLinearOracle(c.Set).Minimise(best, total)
	for i, x := range best {
		excess -= total[i] * x
	}
	return excess / float64(steps-steps*3/4)
}

// TestSearchFollowsWhereProvedConstantsFreeze checks flows on 112 edges: with proved constants the update hardly leaves
// the start, while searched steps reach the best path, except for the effect of the regulariser.
func TestSearchFollowsWhereProvedConstantsFreeze(t *testing.T) {
	c := sample(t, "box", 1)
	c.Update, c.Set, c.StrongConvexity, c.Clip = LLO, square(t, 8), 0.01, 10
	c.Rounds, c.Failure = 4000, 0.01

	far := followed(t, c, 4000)
	c.Constants = Search
	near := followed(t, c, 4000)
	t.Logf("above the best path: proved constants %.3f, searched %.4f", far, near)
	if far < 1 {
		t.Errorf("proved constants: %.3f above the best path: they are not frozen, and plan says so", far)
	}
	if near > 0.02*far {
		t.Errorf("searched: %.4f above the best path, proved %.4f", near, far)
	}
}

// TestSearchIsExact checks on every polytope that a searched step ends at the least point of the segment to the linear
// minimiser.
func TestSearchIsExact(t *testing.T) {
	for _, name := range []string{
		"l1-ball", "simplex", "box", "subsets", "partition", "flow", "matching", "vertices", "trees", "ranking",
		"spectrahedron", "trace-norm", "subsets-at-most", "partition-at-most", "forests",
	} {
		c := sample(t, name, 4)
		c.Update, c.Constants, c.Failure = LLO, Search, 0.01
		searchIsExact(t, c, protection.Window{Steps: 8}, 1)
		searchIsExact(t, c, protection.Decay{Steps: 8}, float64(decay.Decay(8))/(1<<30))
	}
}

// searchIsExact checks searched steps over sums that decay by gamma at each step.
func searchIsExact(t *testing.T, c Config, scope protection.Scope, gamma float64) {
	t.Helper()
	name, weight := c.Set.Name(), 0.0
	o := &objective{convexity: 0.7, start: 0.2, scope: scope}
	u, err := newLocal(c, o, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	linear, v, sum := convex.NewLinearOracle(c.Set), make([]float64, 4), make([]float64, 4)
	for step := uint64(1); step < 60; step++ {
		for i := range sum {
			sum[i] = gamma*sum[i] + rng.NormFloat64()
		}
		weight = gamma*weight + 1
		curvature := 0.7*weight + 0.2
		value := func(x []float64) (j float64) { // value is Ĵ_t at x
			for i := range x {
				j += sum[i]*x[i] + curvature*x[i]*x[i]/2
			}
			return j
		}
		before, slope := slices.Clone(u.point()), make([]float64, 4)
		for i, x := range before {
			slope[i] = sum[i] + curvature*x
		}
		linear.Minimise(v, slope)
		u.step(step, sum)
		got, y := value(u.point()), make([]float64, 4)
		for k := range 1001 {
			for i := range y {
				y[i] = before[i] + float64(k)/1000*(v[i]-before[i])
			}
			if value(y) < got-1e-9*(1+math.Abs(got)) {
				t.Fatalf("%s, step %d: %g, and %g at %d/1000 of the way", name, step, got, value(y), k)
			}
		}
	}
}

// TestSearchFollowsMeans checks that a searched step is computed from a weighted mean of all releases. Step s enters
// the mean with the weight min(1, 16/n), where n is the number of steps in the sums after it, and later steps shrink
// the weights of earlier ones.
func TestSearchFollowsMeans(t *testing.T) {
	for _, memory := range []uint64{0, 40} {
		c := sample(t, "flow", 5)
		c.Update, c.Constants, c.StrongConvexity, c.StartRegularizer = LLO, Search, 0.3, 2
		m, gamma := mechanism(c, 256, 1), 1.0
		if memory > 0 {
			m, gamma = remembering(c, memory, 1), float64(decay.Decay(memory))/(1<<30)
		}
		machine, err := New(c, mustParams(t, c, m), mechtest.Open(t, m, [32]byte{3}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		slow, err := newLocal(c, machine.objective, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		rng, releases, weights := rand.New(rand.NewPCG(3, 4)), [][]float64(nil), []float64{0}
		for step := range 120 {
			counted.Add(nil, record(step, linear(direction(rng, 5, 0.9))))
			releases = append(releases, slices.Clone(machine.Stream.Sum(0)))
			weights = append(weights, gamma*weights[step]+1)
			mean, left := make([]float64, 5), 1.0
			for s := step; s >= 0; s-- {
				share := min(1, 16/weights[s+1])
				for i, x := range releases[s] {
					mean[i] += left * share * x
				}
				left *= 1 - share
			}
			slow.step(uint64(step)+1, mean)
			if got := machine.update.point(); !floats.EqualApprox(got, slow.point(), 1e-9) {
				t.Fatalf("memory %d, step %d: %v, want %v", memory, step+1, got, slow.point())
			}
		}
	}
}

// TestStepsAreDescribed checks the text of `oriel plan` about steps: α of the proved constants, and advice if α is too
// small.
func TestStepsAreDescribed(t *testing.T) {
	c := sample(t, "box", 1)
	c.Update, c.Set, c.Rounds, c.Failure = LLO, square(t, 8), 1000, 0.01
	stated := func() string { return operator{Config: c}.Describe(mechanisms.Config{}).Steps }
	for _, part := range []string{"0.00016 of the way", "ρ = 56", "ORIEL_CONSTANTS=search"} { // ρ² = 112·2·14 = 3136
		if !strings.Contains(stated(), part) {
			t.Errorf("flows: %q has no %q", stated(), part)
		}
	}
	c.Set = mustSet(t, "box", 3, 1)
	if !strings.Contains(stated(), "0.17 of the way") || strings.Contains(stated(), "search") {
		t.Errorf("box: %q", stated())
	}
	c.Update = Projection
	if stated() != "" {
		t.Errorf("projection: %q", stated())
	}
}
