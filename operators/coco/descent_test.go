package coco

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/convex"
)

// The tests in this file check noisy OGD as in SPEC.md, care point 3, with steps as rounds.

// TestDescentIsTheTextbooks compares descent with x_{t+1} = Π_C(x_t − η_t·∇̃f_t(x_t)), η_t = 1/(µt + λ_0). With noise
// it computes each step from the released gradient, and without noise a complete run.
func TestDescentIsTheTextbooks(t *testing.T) {
	for _, s := range scenarios("l2-ball", "l1-ball", "simplex", "box") {
		t.Run(s.name, func(t *testing.T) {
			c := s.config(t, OGD)
			m := mechanism(c, 0, s.batch)
			projection, err := convex.NewProjection(c.Set)
			if err != nil {
				t.Fatal(err)
			}
			mu := c.StrongConvexity * float64(s.batch)
			descend := func(x, gradient []float64, step int) []float64 {
				next := slices.Clone(x)
				for i := range next {
					full := gradient[i]
					if !s.own {
						full += mu * x[i]
					}
					next[i] -= full / (mu*float64(step) + s.start)
				}
				projection.Project(next, next)
				return next
			}
			noisy, exact := open(t, c, m, 1), quiet(t, c, m)
			countedNoisy := operators.ByCount(noisy)
			countedExact := operators.ByCount(exact)
			costs, x, offset := newAdversary(5, s.n, c.Clip), slices.Clone(exact.update.point()), 0
			for step := 1; step <= 400; step++ {
				before := slices.Clone(noisy.update.point())
				sum := make([]float64, s.n)
				for range s.batch {
					v := costs.cost(x)
					countedNoisy.Add(nil, record(offset, linear(v)))
					countedExact.Add(nil, record(offset, linear(v)))
					offset++
					mustTangent(t, c.Set).Project(v)
					for i := range v {
						sum[i] += v[i]
					}
				}
				if d := floats.Distance(descend(before, noisy.Stream.Sum(0), step), noisy.update.point(), 2); d > 1e-12 {
					t.Fatalf("step %d: decision is %g from the step along its release", step, d)
				}
				x = descend(x, sum, step)
				if d := floats.Distance(x, exact.update.point(), 2); d > 1e-5 { // the lattice rounds by 2^-25
					t.Fatalf("step %d: without noise the decision is %g from the textbook's", step, d)
				}
			}
		})
	}
}

// TestDescentIsProjectionOnNaiveSums checks PROOF.md, claim 4: in a set so large that no projection acts, descent
// equals Algorithm 1 on the sum of all noisy releases.
func TestDescentIsProjectionOnNaiveSums(t *testing.T) {
	for _, own := range []bool{false, true} {
		c := sample(t, "l2-ball", 3)
		c.Set, c.OwnConvexity, c.StartRegularizer, c.Update = mustSet(t, "l2-ball", 3, 1e6), own, 4, OGD
		m := open(t, c, mechanism(c, 0, 2), 3)
		counted := operators.ByCount(m)
		costs, sum, decisions := newAdversary(6, 3, 1), make([]float64, 3), make([]float64, 3)
		for step := 1; step <= 300; step++ {
			x := slices.Clone(m.update.point())
			counted.Add(nil, record(2*step, linear(costs.cost(x))))
			counted.Add(nil, record(2*step+1, linear(costs.cost(x))))
			want := make([]float64, 3)
			for i, y := range m.Stream.Sum(0) {
				sum[i] += y
				decisions[i] += x[i]
				want[i] = -sum[i]
				if own {
					want[i] += decisions[i] // µB = 1
				}
				want[i] /= float64(step) + 4
			}
			if d := floats.Distance(want, m.update.point(), 2); d > 1e-9 {
				t.Fatalf("own convexity %v, step %d: decision %g from that of the sum", own, step, d)
			}
		}
	}
}

// fixedCosts returns the linear losses of a run, fixed in advance: alternately a drift and its opposite, with random
// changes.
func fixedCosts(seed uint64, steps, n int, clip float64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 12))
	drift, costs := direction(rng, n, 0.5*clip), make([][]float64, steps)
	for i := range costs {
		costs[i] = direction(rng, n, 0.5*clip)
		for j := range drift {
			costs[i][j] += drift[j]
		}
		if i%500 == 499 {
			for j := range drift {
				drift[j] = -drift[j]
			}
		}
	}
	return costs
}

// regretOf plays linear losses with the public regulariser, in steps of batch events, and returns the regret relative
// to the best fixed point.
func regretOf(t *testing.T, c Config, m *Machine, batch int, costs [][]float64) float64 {
	counted := operators.ByCount(m)
	t.Helper()
	n, events := c.Set.Dimension(), float64(len(costs))
	paid, sum := 0.0, make([]float64, n)
	for offset, v := range costs {
		x := m.update.point()
		paid += floats.Dot(v, x) + c.StrongConvexity/2*floats.Dot(x, x)
		for i := range v {
			sum[i] += v[i]
		}
		counted.Add(nil, record(offset, linear(v)))
	}
	if want := uint64(len(costs) / batch); m.Steps() != want {
		t.Fatalf("%d steps, want %d", m.Steps(), want)
	}
	projection, err := convex.NewProjection(c.Set)
	if err != nil {
		t.Fatal(err)
	}
	best := make([]float64, n)
	for i := range best {
		best[i] = -sum[i] / (events * c.StrongConvexity)
	}
	projection.Project(best, best)
	return paid - floats.Dot(sum, best) - events*c.StrongConvexity/2*floats.Dot(best, best)
}

// TestDescentRegretInExpectation checks E Regret ≤ (λ_0/2)D² + (H² + E|n_t|²)(1 + ln T)/(2µB) by the mean over seeds
// plus six standard errors. The bound needs the noise term: in a ball that is seldom left, the mean exceeds the bound
// without the term by as many standard errors.
func TestDescentRegretInExpectation(t *testing.T) {
	const events, n = 3000, 4
	seeds := tiertest.Runs(20.0, 40)
	for i, test := range []struct {
		set, mechanism string
		radius         float64
		batch          int
		start          float64
	}{
		{"l2-ball", "once-gaussian", 3, 1, 0},
		{"l2-ball", "once-gamma", 3, 1, 0},
		{"box", "once-gaussian", 1, 3, 0},
		{"l1-ball", "once-gaussian", 5, 1, 20},
	} {
		c := sample(t, test.set, n)
		c.Update, c.StartRegularizer = OGD, test.start
		c.Set = mustSet(t, test.set, n, test.radius)
		m := mechanism(c, 0, uint64(test.batch))
		m.Name, m.Budget.Epsilon = test.mechanism, 2
		plan, costs := mechtest.Plan(t, m), fixedCosts(9, events, n, c.Clip)
		var regrets []float64
		for key := range byte(seeds) {
			regrets = append(regrets, regretOf(t, c, openPlan(t, c, m, plan, key), test.batch, costs))
		}
		mean, square := 0.0, 0.0
		for _, r := range regrets {
			mean += r / seeds
		}
		for _, r := range regrets {
			square += (r - mean) * (r - mean) / (seeds - 1)
		}
		b, sigma := float64(test.batch), plan.Scale.Float64()*plan.Grid.Unit()
		noise := n * sigma * sigma
		if test.mechanism == "once-gamma" {
			noise *= n + 1
		}
		gradient := b * (c.Clip + c.StrongConvexity*c.Set.MaxNorm())
		d := c.Set.Diameter()
		bound := func(noise float64) float64 {
			return test.start/2*d*d + (gradient*gradient+noise)*(1+math.Log(events/b))/(2*b*c.StrongConvexity)
		}
		t.Logf("%+v: mean regret %.1f ± %.1f, bound %.1f, without noise %.1f", test, mean, math.Sqrt(square/seeds), bound(noise), bound(0))
		if upper := mean + 6*math.Sqrt(square/seeds); upper > bound(noise) {
			t.Errorf("%+v: mean regret up to %g, bound %g", test, upper, bound(noise))
		}
		if lower := mean - 6*math.Sqrt(square/seeds); i == 0 && lower < bound(0) {
			t.Errorf("%+v: mean regret down to %g, below %g: the test does not see the noise", test, lower, bound(0))
		}
	}
}

// TestNewRefusesAStreamOfTheOtherKind checks that an update refuses a stream of prefix sums if it needs sums of single
// steps, and vice versa. The error must name update and mechanism.
func TestNewRefusesAStreamOfTheOtherKind(t *testing.T) {
	for _, test := range []struct{ update, mechanism string }{
		{OGD, "tree-gaussian"},
		{OGD, "tree-gamma"},
		{OGD, "blt"},
		{Projection, "once-gaussian"},
		{Projection, "once-gamma"},
		{LLO, "once-gaussian"},
	} {
		c := sample(t, "box", 3)
		c.Update = test.update
		m := mechanism(c, 8, 1)
		m.Name, m.Scope = test.mechanism, protection.Window{Steps: 8}
		if strings.HasPrefix(test.mechanism, "once") {
			m.Scope, m.Failure = protection.PerStep{}, 0
		}
		stream, err := mechanisms.Open(m, mechtest.Plan(t, m), [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(c, Params{}, stream)
		if err == nil || !strings.Contains(err.Error(), "update "+test.update) ||
			!strings.Contains(err.Error(), test.mechanism) {
			t.Errorf("%s on %s: %v", test.update, test.mechanism, err)
		}
	}
}
