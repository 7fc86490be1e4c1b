package bandit

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/optest"
	"oriel/operators/setting"
)

// kinds returns configurations that together cover the settings.
func kinds(tb testing.TB) []Config {
	return []Config{
		{
			Set: set(tb, "l2-ball", 3, 2), Losses: setting.Range{High: 1}, Lipschitz: 1, Rounds: 64, Shrink: true,
			Actions: actions.Config{Records: 1, Actions: 2},
		},
		{
			Set: set(tb, "simplex", 4, 1), Losses: setting.Range{Low: -1, High: 3},
			Baseline: 0.5, Smoothing: 0.1, Rate: 0.01, Rounds: 64,
			Actions: actions.Config{Records: 3, Actions: 3, Delay: 2},
		},
		{
			Set: set(tb, "box", 2, 0.5), Losses: setting.Range{High: 2},
			Baseline: 0.25, Lipschitz: 2, Rounds: 64, Shrink: true,
			Actions: actions.Config{Records: 2, Actions: 5, Delay: 1},
		},
		{
			Set: set(tb, "l2-ball", 3, 2), Losses: setting.Range{High: 1},
			Lipschitz: 1, Rounds: 64, Shrink: true, Doubling: true,
			Actions: actions.Config{Records: 2, Actions: 3, Delay: 1},
		},
		{
			Set: set(tb, "l1-ball", 2, 1), Losses: setting.Range{High: 1},
			Lipschitz: 1, Rounds: 64, Shrink: true, Projected: true,
			Actions: actions.Config{Records: 2, Actions: 2},
		},
	}
}

// referenceOf returns the reference model of the newest plan.
func referenceOf(tb testing.TB, c Config) *reference {
	tb.Helper()
	r, err := newReference(c, c.members(mechtest.Config(1).Terms), c.NewParams())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestConformance(t *testing.T) {
	for i, c := range kinds(t) {
		for _, name := range []string{"blt", "tree-gamma"} {
			t.Run(strconv.Itoa(i)+" "+name, func(t *testing.T) {
				m := mechanism(c, name, 1)
				optest.RunActions(t, func(tb testing.TB, open optest.Open) operators.Machine {
					machine, err := New(c, c.NewParams(), open(m))
					if err != nil {
						tb.Fatal(err)
					}
					return machine
				}, c.Actions, optest.Feedback(40, -2, 3))
			})
		}
	}
}

// TestReferenceModelMatchesMachine checks that releases without noise are the sums of the reference model's
// contributions, for all kinds of record keys. It also checks the machine whose directions are the coordinates in turn,
// as in an audit.
func TestReferenceModelMatchesMachine(t *testing.T) {
	for _, c := range kinds(t) {
		audited, _ := operator{Config: c}.EmitAll().(operator)
		for _, c := range []Config{c, audited.Config} {
			n := c.Set.Dimension()
			m := mechanism(c, "blt", 1)
			machine, other := open(t, c, m, 1, true), referenceOf(t, c)
			counted := operators.ByCount(machine)
			other.Begin()
			other.Observe(machine.Open(nil))
			sum, added, some := make([]float64, n), make([]float64, 2*n), false
			for i, e := range optest.Feedback(60, -2, 3) {
				r := operators.Record{Key: optest.ActionKey(c.Actions, i), Event: e, Null: i%11 == 2}
				if other.Contribution(added, r) {
					floats.Add(sum, added[:n])
					some = true
				}
				made := counted.Add(nil, r)
				if len(made) > 0 && !floats.EqualApprox(machine.Stream.Sum(0), sum, 1e-5) {
					t.Fatalf("%+v, record %d: %v was released, want %v", c, i, machine.Stream.Sum(0), sum)
				}
				other.Observe(made)
			}
			if !some {
				t.Errorf("%+v: nothing was added", c)
			}
		}
	}
}

// TestContributionsOfAnActionReachTheirSensitivity checks that two losses of one action can make contributions at
// distance (m/ζ)·Φ, in loss units, and no further. Canaries of an audit must reach that distance.
func TestContributionsOfAnActionReachTheirSensitivity(t *testing.T) {
	for _, c := range kinds(t) {
		n, p, dimension := c.Set.Dimension(), c.NewParams().Episodes[0], c.NewParams().Dimension
		m := mechanism(c, "blt", 1)
		machine := open(t, c, m, 1, true)
		machine.Open(nil)
		low, high := make([]float64, 2*n), make([]float64, 2*n)
		for i, loss := range []float64{-1e9, 1e9} {
			dst := [][]float64{low, high}[i]
			machine.u.write(dst[:n], 7)
			contribute(dst, c.mapped(loss), 2*c.Baseline-1)
		}
		distance := machine.gains[0] * floats.Distance(low[:n], high[:n], 2)
		if want := float64(dimension) / p.Smoothing * (c.Losses.High - c.Losses.Low); math.Abs(distance-want) > 1e-9*want {
			t.Errorf("%+v: contributions %g apart, want %g", c, distance, want)
		}
		for _, added := range [][]float64{low, high} { // both contributions must be in the ball about their centre
			if away := floats.Distance(added[:n], added[n:], 2); away > 1+1e-12 {
				t.Errorf("%+v: a contribution at distance %g from its centre", c, away)
			}
		}
	}
}

// TestReferenceValues checks the paper's constants for T = 10⁴, n = 4, L = D = 1.
func TestReferenceValues(t *testing.T) {
	c := paper(t, 4, 1e4)
	p := c.NewParams().Episodes[0]
	if math.Abs(p.Smoothing-0.2) > 1e-12 || math.Abs(p.Rate-0.0005) > 1e-15 || p.Shrink != 1 ||
		c.Actions.Records != 100 || c.Rounds != 100 {
		t.Errorf("%+v, %d rounds of %d", p, c.Rounds, c.Actions.Records)
	}
	c.Losses.High = 2.4 // makes Φ = 2L(D+ζ)
	machine := open(t, c, mechanism(c, "tree-gaussian", 1), 1, true)
	if delta := 2 * machine.gains[0]; math.Abs(delta-48) > 1e-9 {
		t.Errorf("Δ₂ = %g, want 48", delta)
	}
	plan := mechtest.Plan(t, mechanism(c, "tree-gaussian", 1))
	// σ = Δ₂·√(h/2ρ) is 726.337 with calibration by zCDP; calibration by µ-GDP needs less.
	sd := plan.Scale.Float64() * plan.Grid.Unit() * machine.gains[0]
	if !(sd < 726.337 && sd > 0.7*726.337) || plan.Levels != 8 {
		t.Errorf("σ = %g at %d levels, want a little below 726.337 at 8", sd, plan.Levels)
	}
}

// TestSmoothedGradientIsUnbiased checks the mean of (n/ζ)·f(x+ζu)·u: it is the gradient of a linear loss, and x for
// ½|x|².
func TestSmoothedGradientIsUnbiased(t *testing.T) {
	const n, draws, zeta = 3, 200_000, 0.5
	var u directions
	u.use([seedLen]byte{1})
	x, a := []float64{0.2, -0.1, 0.4}, []float64{1, 2, -1}
	for name, loss := range map[string]func(y []float64) float64{
		"linear": func(y []float64) float64 { return floats.Dot(a, y) },
		"square": func(y []float64) float64 { return floats.Dot(y, y) / 2 },
	} {
		want := map[string][]float64{"linear": a, "square": x}[name]
		mean, square, d, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for play := range uint64(draws) {
			u.write(d, play+1)
			if math.Abs(floats.Norm(d, 2)-1) > 1e-12 {
				t.Fatalf("play %d: a direction of length %g", play, floats.Norm(d, 2))
			}
			floats.AddScaledTo(y, x, zeta, d)
			for i := range d {
				g := n / zeta * loss(y) * d[i]
				mean[i] += g / draws
				square[i] += g * g / draws
			}
		}
		for i := range mean { // 5.4 standard errors fail with probability below 1e-7 for each of six means
			if off := math.Abs(mean[i] - want[i]); off > 5.4*math.Sqrt(square[i]/draws) {
				t.Errorf("%s, coordinate %d: %g, want %g", name, i, mean[i], want[i])
			}
		}
	}
}

// TestFrankWolfeFindsTheCentre checks that the centre is within D/√B, its error budget, of the projection of −ηs, on
// sets with a known projection. The number of linear minimisations must not exceed the number of records of a step.
func TestFrankWolfeFindsTheCentre(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, name := range []string{"l2-ball", "simplex", "box", "l1-ball"} {
		c := Config{
			Set: set(t, name, 5, 0.7), Losses: setting.Range{High: 1}, Smoothing: 0.1, Rate: 0.5, Rounds: 16,
			Actions: actions.Config{Records: 400, Actions: 400},
		}
		machine := open(t, c, mechanism(c, "blt", 1), 1, true)
		counted := &counting{LinearOracle: machine.mirror.oracle}
		machine.mirror.oracle = counted
		projection, err := convex.NewProjection(c.Set)
		if err != nil {
			t.Fatal(err)
		}
		sum, want := make([]float64, 5), make([]float64, 5)
		rate := machine.params.Episodes[0].Rate * machine.gains[0]
		for range 50 {
			for i := range sum {
				sum[i] += 0.1 * rng.NormFloat64()
			}
			counted.calls = 0
			machine.mirror.move(rate, sum)
			for i, s := range sum {
				want[i] = machine.middle[i] - rate*s
			}
			projection.Project(want, want)
			if off := floats.Distance(machine.mirror.centre, want, 2); off > c.Set.Diameter()/20 || counted.calls > 400 {
				t.Fatalf("%s: %g from the projection after %d linear minimisations", name, off, counted.calls)
			}
		}
	}
}

type counting struct {
	convex.LinearOracle
	calls int
}

func (c *counting) Minimise(dst, cost []float64) {
	c.calls++
	c.LinearOracle.Minimise(dst, cost)
}

// TestCentresStayInAnySet checks for each set that every centre satisfies the bound of the set's linear minimisation,
// and that centres move.
func TestCentresStayInAnySet(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, spec := range []catalogue.Spec{
		{Name: "l2-ball", Dimension: 4},
		{Name: "l1-ball", Dimension: 4},
		{Name: "box", Dimension: 4},
		{Name: "simplex", Dimension: 4},
		{Name: "subsets", Dimension: 5, Pick: 2},
		{Name: "matching", Dimension: 9},
		{Name: "flow", Dimension: 4, Edges: []string{"a>b", "a>c", "b>d", "c>d"}},
		{Name: "partition", Dimension: 5, Blocks: []string{"2:1", "3:2"}},
		{Name: "vertices", Dimension: 2, Corners: []string{"0 0", "1 0", "0 2"}},
	} {
		spec.Radius = 2
		s, err := catalogue.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		c := Config{
			Set: s, Losses: setting.Range{High: 1}, Smoothing: 0.3, Rate: 0.05, Rounds: 64,
			Actions: actions.Config{Records: 8, Actions: 8, Delay: 1},
		}
		machine, oracle := open(t, c, mechanism(c, "blt", 1), 3, false), convex.NewLinearOracle(s)
		counted := operators.ByCount(machine)
		n := s.Dimension()
		first, cost, vertex := make([]float64, n), make([]float64, n), make([]float64, n)
		s.Start(first)
		made, moved := machine.Open(nil), 0.0
		for i, e := range optest.Feedback(400, -2, 3) {
			if len(made) > 0 {
				x := made[0].Extras[0].Numbers
				moved = max(moved, floats.Distance(x, first, 2))
				for range 20 {
					for j := range cost {
						cost[j] = rng.NormFloat64()
					}
					oracle.Minimise(vertex, cost)
					if floats.Dot(cost, x) < floats.Dot(cost, vertex)-1e-9 {
						t.Fatalf("%s: centre %v is outside", spec.Name, x)
					}
				}
			}
			made = counted.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, i), Event: e})
		}
		if moved < 0.05*s.Diameter() {
			t.Errorf("%s: centres move by %g, of a diameter of %g", spec.Name, moved, s.Diameter())
		}
	}
}

// TestActionsStayInTheSet checks that actions stay in the set if the settings require it.
func TestActionsStayInTheSet(t *testing.T) {
	for _, c := range kinds(t) {
		if !c.Shrink {
			continue
		}
		projection, err := convex.NewProjection(c.Set)
		if err != nil {
			t.Fatal(err)
		}
		machine := open(t, c, mechanism(c, "blt", 1), 3, false)
		counted := operators.ByCount(machine)
		made, inside := machine.Open(nil), make([]float64, c.Set.Dimension())
		for i, e := range optest.Feedback(60, -2, 3) {
			for _, d := range made {
				projection.Project(inside, d.Point)
				if off := floats.Distance(inside, d.Point, 2); off > 1e-9 {
					t.Fatalf("%s, play %d: %g outside", c.Set.Name(), d.Index, off)
				}
			}
			made = counted.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, i), Event: e})
		}
	}
}

// TestNoRoundIsDueAfterTheEnd checks that a stream with an end has no round after its last step. A stream without an
// end has a round after each step.
func TestNoRoundIsDueAfterTheEnd(t *testing.T) {
	c := kinds(t)[0]
	ends := mechanism(c, "blt", 1)
	goesOn := ends
	goesOn.Scope = protection.Window{Steps: c.Rounds}
	for _, x := range []struct {
		m    mechanisms.Config
		step uint64
		want int
	}{
		{ends, 0, c.Actions.Actions},
		{ends, c.Rounds - 1, c.Actions.Actions},
		{ends, c.Rounds, 0},
		{ends, c.Rounds + 1, 0},
		{goesOn, c.Rounds, c.Actions.Actions},
		{goesOn, 100 * c.Rounds, c.Actions.Actions},
	} {
		if _, count := open(t, c, x.m, 1, false).Due(x.step); count != x.want {
			t.Errorf("%s: %d plays are due after step %d, want %d", x.m.Words().Length, count, x.step, x.want)
		}
	}
}

func TestOtherStreamsAndParamsAreRefused(t *testing.T) {
	c := kinds(t)[0]
	for _, change := range []func(m *mechanisms.Config){
		func(m *mechanisms.Config) { m.Contribution = contribution.OneComponent(2, 1) },
		func(m *mechanisms.Config) { m.Batch = 7 },
		func(m *mechanisms.Config) { m.Name, m.Scope = "once-gamma", protection.PerStep{} },
	} {
		m := mechanism(c, "blt", 1)
		change(&m)
		if _, err := New(c, c.NewParams(), mechtest.Open(t, m, [32]byte{1})); err == nil {
			t.Errorf("%+v is taken", m)
		}
	}
	stored := c.NewParams().AppendBinary(nil)
	if p, err := ParseParams(stored); err != nil || !reflect.DeepEqual(p, c.NewParams()) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range [][]byte{nil, stored[1:], append([]byte{2}, stored[1:]...), make([]byte, len(stored))} {
		if _, err := ParseParams(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	c.Smoothing = 3 // does not fit: the ball has radius 2
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "ORIEL_SMOOTHING 3") {
		t.Errorf("error %v", err)
	}
}
