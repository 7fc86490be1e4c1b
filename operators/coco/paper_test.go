package coco

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/operators/convex"
)

// The tests in this file check the statements of SPEC.md §5, §6 and §11 with a step of B events as a round, so that µB
// stands for the paper's µ, and BG for its G.

type scenario struct {
	name  string
	set   string
	n     int
	batch uint64
	own   bool
	start float64
}

func scenarios(sets ...string) []scenario {
	var list []scenario
	for _, set := range sets {
		list = append(list,
			scenario{set + "/plain", set, 4, 1, false, 0},
			scenario{set + "/batch", set, 4, 5, false, 0},
			scenario{set + "/own", set, 4, 1, true, 0},
			scenario{set + "/start", set, 4, 2, false, 30},
		)
	}
	return list
}

func (s scenario) config(t *testing.T, update string) Config {
	c := sample(t, s.set, s.n)
	c.Update, c.OwnConvexity, c.StartRegularizer = update, s.own, s.start
	if s.own { // µD ≤ 2L must hold, because otherwise no such losses exist
		c.StrongConvexity = 0.2
	}
	return c
}

// TestAlgorithm1Line3MinimisesTheNoisyObjective checks §5, line 3: each decision minimises Ĵ_t exactly, for the private
// sum that the machine used.
func TestAlgorithm1Line3MinimisesTheNoisyObjective(t *testing.T) {
	for _, s := range scenarios("l2-ball", "l1-ball", "simplex", "box") {
		t.Run(s.name, func(t *testing.T) {
			c := s.config(t, Projection)
			r := newRun(t, c, open(t, c, mechanism(c, 64, s.batch), 1), s.batch, 1)
			for range 500 {
				r.next()
				if d := floats.Distance(r.centre(r.machine.Stream.Sum(0), s.start, 0), r.machine.update.point(), 2); d > 1e-11 {
					t.Fatalf("step %d: decision is %g from the minimiser", r.step, d)
				}
			}
		})
	}
}

// TestPublicRegulariserCancelsTheSumOfDecisions checks §5.1: with the public regulariser (µ/2)|x|², decisions equal the
// decisions of §5 as printed on gradients that include µx_t.
func TestPublicRegulariserCancelsTheSumOfDecisions(t *testing.T) {
	for _, update := range []string{Projection, LLO} {
		for _, set := range []string{"l1-ball", "simplex", "box"} {
			public := sample(t, set, 4)
			public.Update = update
			printed := public
			printed.OwnConvexity = true
			printed.Clip += public.StrongConvexity * public.Set.MaxNorm() // makes G equal in both
			m := mechanism(public, 16, 1)
			a, b := quiet(t, public, m), quiet(t, printed, mechanism(printed, 16, 1))
			countedA := operators.ByCount(a)
			countedB := operators.ByCount(b)
			costs := newAdversary(3, 4, 1)
			for i := range 400 {
				x := a.update.point()
				if d := floats.Distance(x, b.update.point(), 2); d > 1e-6 {
					t.Fatalf("%s/%s: step %d: decisions differ by %g", update, set, i, d)
				}
				v := costs.cost(x)
				w := slices.Clone(v)
				for j := range w {
					w[j] += public.StrongConvexity * b.update.point()[j]
				}
				countedA.Add(nil, record(i, linear(v)))
				countedB.Add(nil, record(i, linear(w)))
			}
		}
	}
}

// TestAlgorithm1RegretBoundPathwise checks §11 on every run, for the noise that was drawn: Algorithm 1 has Regret ≤ GD
// + (G²/µ) ln T + (G/µ) Σ_{t<T}|ν_t|/t. Without noise this is the bound of follow the approximate leader (FTAL).
func TestAlgorithm1RegretBoundPathwise(t *testing.T) {
	const steps = 4000
	for _, s := range scenarios("l2-ball", "l1-ball", "simplex", "box") {
		if s.start > 0 {
			continue // the bound is proved without λ_0
		}
		c := s.config(t, Projection)
		m := mechanism(c, 64, s.batch)
		for name, machine := range map[string]*Machine{
			"noise": open(t, c, m, 2), "quiet": quiet(t, c, m),
		} {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				r := newRun(t, c, machine, s.batch, 2)
				g, noise := r.stepG(), 0.0
				for range steps {
					r.next()
					at := float64(r.step)
					bound := g*c.Set.Diameter() + g*g/r.mu*math.Log(at) + g/r.mu*noise
					if regret := r.regret(); regret > bound*(1+1e-9) {
						t.Fatalf("T = %d: regret %g, bound %g", r.step, regret, bound)
					}
					noise += r.nu / at
				}
				t.Logf("T = %d: regret %.1f of %.1f", steps, r.regret(), g*c.Set.Diameter()+g*g/r.mu*math.Log(steps)+g/r.mu*noise)
			})
		}
	}
}

// TestAlgorithm2InvariantsPathwise checks §11 for Algorithm 2 with proved constants, as long as |ν_t| ≤ E for all t. At
// every t, |x_t − z_t| ≤ r_t and J_t(x_{t+1}) − J_t(z_t) ≤ C_1²/b_t, where z_t minimises J_t without noise. The regret
// bound must hold, too.
func TestAlgorithm2InvariantsPathwise(t *testing.T) {
	const steps = 4000
	for _, s := range scenarios("l1-ball", "simplex", "box") {
		t.Run(s.name, func(t *testing.T) {
			c := s.config(t, LLO)
			machine := open(t, c, mechanism(c, 64, s.batch), 3)
			u := machine.update.(*local)
			k, bound, rho := u.constants, machine.Stream.ErrorBound(), u.oracle.Ratio()
			r := newRun(t, c, machine, s.batch, 4)
			for range steps {
				x := slices.Clone(u.point())
				r.next()
				if r.nu > bound {
					t.Fatalf("step %d: |ν| = %g beyond E = %g: outside the event of the claim", r.step, r.nu, bound)
				}
				z := r.centre(r.g, s.start, k.anchor)
				if d := floats.Distance(x, z, 2); d > k.radius(r.step) {
					t.Fatalf("step %d: |x−z| = %g, r = %g", r.step, d, k.radius(r.step))
				}
				if gap, most := r.gap(u.point(), z, s.start, k.anchor), k.reach*k.reach/k.curvature(r.step); gap > most {
					t.Fatalf("step %d: gap %g, bound %g", r.step, gap, most)
				}
			}
			if s.start > 0 {
				return
			}
			g, d := r.stepG(), c.Set.Diameter()
			most := 12.5*rho*rho*r.mu*d*d + g/r.mu*(math.Sqrt2*k.reach+2*g)*math.Log(1+steps/(25*rho*rho))
			if regret := r.regret(); regret > most {
				t.Errorf("regret %g, bound %g", regret, most)
			} else {
				t.Logf("regret %.1f of %.1f", regret, most)
			}
		})
	}
}

// recordingOracle records the calls that Algorithm 2 makes of its oracle. The tests of package convex check that a move
// costs one linear minimisation.
type recordingOracle struct {
	convex.LocalOracle
	moves  int
	alpha  float64
	radius float64
	slope  []float64
}

func (o *recordingOracle) Move(alpha, r float64, c []float64) {
	o.moves++
	o.alpha, o.radius, o.slope = alpha, r, slices.Clone(c)
	o.LocalOracle.Move(alpha, r, c)
}

// TestAlgorithm2CallsItsOracleOnceWithTheGradient checks §6: there is one call in each step, with α = 1/(2ρ²), r_t and
// c = ∇Ĵ_t(x_t). The test sums c over all past decisions, as Ĵ_t is defined.
func TestAlgorithm2CallsItsOracleOnceWithTheGradient(t *testing.T) {
	for _, s := range scenarios("l1-ball", "simplex", "box") {
		t.Run(s.name, func(t *testing.T) {
			c := s.config(t, LLO)
			m := open(t, c, mechanism(c, 16, s.batch), 5)
			u := m.update.(*local)
			oracle := &recordingOracle{LocalOracle: u.oracle}
			u.oracle = oracle
			rho, r := oracle.Ratio(), newRun(t, c, m, s.batch, 8)
			var origins [][]float64 // o_τ by step
			for range 200 {
				x := slices.Clone(u.point())
				origin := make([]float64, len(x))
				if s.own {
					copy(origin, x)
				}
				origins = append(origins, origin)
				r.next()
				if oracle.moves != int(r.step) {
					t.Fatalf("%d calls in %d steps", oracle.moves, r.step)
				}
				want := slices.Clone(m.Stream.Sum(0))
				for i := range want {
					want[i] += s.start*x[i] + r.mu*25*rho*rho*(x[i]-r.first[i])
					for _, o := range origins {
						want[i] += r.mu * (x[i] - o[i])
					}
				}
				if d := floats.Distance(oracle.slope, want, 2); d > 1e-9 {
					t.Fatalf("step %d: c is %g from the gradient", r.step, d)
				}
				if oracle.alpha != 1/(2*rho*rho) || oracle.radius != u.constants.radius(r.step) {
					t.Fatalf("step %d: α = %g, r = %g", r.step, oracle.alpha, oracle.radius)
				}
			}
		})
	}
}

// TestRegretOverLogTIsFlat checks Theorems 3, 4, 6 and 7 by their visible effect: at fixed W, regret grows like ln T.
// Regret of order √T would increase regret/ln T six times over this range, and of order T 40 times. Algorithm 2 first
// moves across the complete set in each step, until r_t < D at about t = 14ρ(ρG+E)/(µD). Its ε is large so that this
// phase ends before the range.
func TestRegretOverLogTIsFlat(t *testing.T) {
	first, last := 11, tiertest.Runs(15, 17)
	for update, epsilon := range map[string]float64{Projection: 1, LLO: 50} {
		c := sample(t, "simplex", 4)
		c.Update, c.Rounds = update, 1<<last
		m := mechanism(c, 16, 1)
		m.Budget.Epsilon = epsilon
		r := newRun(t, c, open(t, c, m, 6), 1, 7)
		low, high, line := math.Inf(1), 0.0, ""
		for r.step < 1<<last {
			r.next()
			if r.step >= 1<<first && r.step&(r.step-1) == 0 {
				ratio := r.regret() / math.Log(float64(r.step))
				low, high = min(low, ratio), max(high, ratio)
				line += fmt.Sprintf(" %.2f", ratio)
			}
		}
		t.Logf("%s: regret/ln T at T = 2^%d … 2^%d:%s", update, first, last, line)
		if high > 2*low {
			t.Errorf("%s: regret/ln T moves from %g to %g", update, low, high)
		}
	}
}
