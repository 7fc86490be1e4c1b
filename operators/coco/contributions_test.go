package coco

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/schemas/event"
)

// sharpest returns the mechanism with the contribution that a new deployment would have.
func sharpest(c Config, m mechanisms.Config) mechanisms.Config {
	m.Contribution = Params{Contributions: c.contributions(m)}.contribution(c)
	return m
}

// logistic returns a learner whose contributions are in a ball around a centre: norms of features and weights are at
// most 1, and decisions are in a ball of radius 5.
func logistic(t testing.TB, n int) Config {
	t.Helper()
	c := sample(t, "l2-ball", n)
	c.Loss, c.Set, c.FeaturesMax, c.StrongConvexity = mustLoss(t, "logistic"), mustSet(t, "l2-ball", n, 5), 1, 1e-3
	return c
}

// TestSensitivityOfEachRule checks the sensitivity in the plan of a new deployment, to a few lattice units.
func TestSensitivityOfEachRule(t *testing.T) {
	none := func(*Config, *mechanisms.Config) {}
	squared := func(y float64) func(c *Config, m *mechanisms.Config) {
		return func(c *Config, _ *mechanisms.Config) { c.Loss, c.LabelMax, c.Clip = loss.Squared{}, y, 100 }
	}
	zeroOut := func(_ *Config, m *mechanisms.Config) { m.Unit = protection.Event{Exchange: dp.ZeroOut} }
	users := func(_ *Config, m *mechanisms.Config) {
		m.Unit = protection.User{Exchange: dp.ZeroOut, Separation: 4}
	}
	for what, x := range map[string]struct {
		change func(*Config, *mechanisms.Config)
		want   float64
	}{
		"logistic":         {none, 1.6173166},
		"zero-out":         {zeroOut, 1 / (1 + math.Exp(-5))},
		"users, zero-out":  {users, 1.6173166},
		"norm unknown":     {func(c *Config, _ *mechanisms.Config) { c.FeaturesMax = 0 }, 2},
		"clip has no room": {func(c *Config, _ *mechanisms.Config) { c.Clip = 0.5 }, 1},
		"clip has room":    {func(c *Config, _ *mechanisms.Config) { c.Clip = 3 }, 3 * 1.6173166},
		"weights known":    {func(c *Config, _ *mechanisms.Config) { c.Clip, c.WeightMax = 3, 1 }, 1.6173166},
		"hinge":            {func(c *Config, _ *mechanisms.Config) { c.Loss = loss.Hinge{} }, 2},
		"linear":           {func(c *Config, _ *mechanisms.Config) { c.Loss = loss.Linear{} }, 2},
		"simplex":          {func(c *Config, _ *mechanisms.Config) { c.Set = mustSet(t, "simplex", 4, 1) }, 1.0991},
		"box":              {func(c *Config, _ *mechanisms.Config) { c.Set = mustSet(t, "box", 4, 1) }, 1.2698},
		"squared":          {squared(1), 6.4609},
		"label unknown":    {squared(0), 200},
		"regression":       {func(c *Config, _ *mechanisms.Config) { c.Loss = loss.Quantile{Tau: 0.7} }, 1.4},
		"threshold": {func(c *Config, _ *mechanisms.Config) {
			c.Loss, c.Set = loss.Quantile{Tau: 0.7}, mustSet(t, "l2-ball", 1, 9)
		}, 1},
		"threshold, zero-out": {func(c *Config, m *mechanisms.Config) {
			zeroOut(c, m)
			c.Loss, c.Set = loss.Quantile{Tau: 0.7}, mustSet(t, "l2-ball", 1, 9)
		}, 0.7},
	} {
		c := logistic(t, 4)
		m := mechanism(c, 16, 1)
		x.change(&c, &m)
		m = sharpest(c, m)
		got := mechtest.Plan(t, m).Sensitivity(m)
		if math.Abs(got-x.want) > 1e-4*x.want {
			t.Errorf("%s: sensitivity %.7g, want %g", what, got, x.want)
		}
		if limit := 2 * c.Clip; got > limit {
			t.Errorf("%s: sensitivity %g above 2L = %g", what, got, limit)
		}
	}
}

// adversaries returns events within the public bounds and far beyond them: in weights, norms, labels and invalid
// numbers.
func adversaries(rng *rand.Rand, n int) []operators.Record {
	records := []operators.Record{{Null: true}}
	inf := math.Inf(1)
	for _, norm := range []float64{1, 1.5, 1e300, 0} {
		for _, weight := range []float64{1, 2, 1e300, inf, -1} {
			for _, label := range []float64{1, -1, math.NaN(), 1e300} {
				e := event.Event{Vector: event.Vector{Values: direction(rng, n, 1)}, Label: label, Weight: weight}
				for i := range e.Vector.Values {
					e.Vector.Values[i] *= norm
				}
				records = append(records, operators.Record{Event: e})
			}
		}
	}
	for _, bad := range []float64{inf, -inf, math.NaN()} {
		e := event.Event{Vector: event.Vector{Values: direction(rng, n, 1)}, Label: 1, Weight: 1}
		e.Vector.Values[0] = bad
		records = append(records, operators.Record{Event: e})
	}
	return records
}

// units returns the contribution of the next record, read from a sum without noise, and restores the machine.
func units(t *testing.T, m *Machine, r operators.Record) []float64 {
	counted := operators.ByCount(m)
	t.Helper()
	before := m.AppendState(nil)
	from := append([]float64(nil), m.Stream.Sum(0)...)
	if m.Stream.Step() == 0 {
		clear(from)
	}
	counted.Add(nil, r)
	added := append([]float64(nil), m.Stream.Sum(0)...)
	for i := range added {
		added[i] -= from[i]
	}
	if err := m.Restore(before); err != nil {
		t.Fatal(err)
	}
	return added
}

// TestContributionsAreWithinTheirSensitivity checks that no two records change a sum by more than the plan's
// sensitivity, exactly in lattice units. It tries many decisions, even some outside the set. Some pairs must come close
// to the sensitivity.
func TestContributionsAreWithinTheirSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	losses := map[string]loss.Loss{
		"logistic": loss.Logistic{}, "squared": loss.Squared{}, "quantile": loss.Quantile{Tau: 0.8},
	}
	for name, l := range losses {
		for _, n := range []int{1, 2, 5} {
			for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
				c := logistic(t, n)
				c.Loss, c.LabelMax = l, 0.3
				m := mechanism(c, 16, 1)
				m.Unit = protection.Event{Exchange: adjacency}
				m = sharpest(c, m)
				plan := mechtest.Plan(t, m)
				limit := plan.Sensitivity(m)
				if name == "squared" && adjacency == dp.ZeroOut {
					continue // the clip is shorter than the longest gradient
				}
				if !(limit < 2 && adjacency == dp.Replace || limit < 1) {
					t.Fatalf("%s, n = %d, %v: nothing gained: %g", name, n, adjacency, limit)
				}
				machine := quietPlan(t, c, m, plan)
				x := machine.update.(*projected).x
				most := 0.0
				for _, far := range []float64{0, 0.3, 1, 1.5, 1e6} {
					copy(x, direction(rng, n, 5*far+1e-300))
					var contributions [][]float64
					for _, r := range adversaries(rng, n) {
						if far <= 1 {
							contributions = append(contributions, units(t, machine, r))
							continue
						}
						one := quietPlan(t, c, m, plan) // a new machine, because the state of this one would be refused
						countedOne := operators.ByCount(one)
						copy(one.update.(*projected).x, x)
						countedOne.Add(nil, r)
						contributions = append(contributions, append([]float64(nil), one.Stream.Sum(0)...))
					}
					for _, a := range contributions {
						others := contributions
						if adjacency == dp.ZeroOut {
							others = contributions[:1]
						}
						for _, b := range others {
							d := 0.0 // in lattice units, whose squares are integers below 2⁵³
							for i := range a {
								u := (a[i] - b[i]) / plan.Grid.Unit()
								d += u * u
							}
							if d > math.Round(limit/plan.Grid.Unit()*limit/plan.Grid.Unit()) {
								t.Fatalf("%s, n = %d, %v, at %v: contributions %v and %v are √%.0f units apart, beyond %g", name, n, adjacency, x, a, b, d, limit)
							}
							most = max(most, math.Sqrt(d)*plan.Grid.Unit())
						}
					}
				}
				if most < 0.7*limit {
					t.Errorf("%s, n = %d, %v: contributions are at most %g apart, accounted %g", name, n, adjacency, most, limit)
				}
			}
		}
	}
}

// TestEventsWithinBoundsAreNotClipped checks that an event within the public bounds contributes its rounded gradient at
// every decision, unclipped. A centre of the wrong sign, or a radius that is too small, would cost accuracy and fail
// here.
func TestEventsWithinBoundsAreNotClipped(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, set := range []string{"l2-ball", "simplex"} {
		for _, n := range []int{2, 3, 40} {
			c := logistic(t, n)
			if set == "simplex" {
				c.Set = mustSet(t, set, n, 5)
			}
			m := sharpest(c, mechanism(c, 16, 1))
			machine := quiet(t, c, m)
			unit := mechtest.Plan(t, m).Grid.Unit()
			gradient := make([]float64, n)
			for range 2000 {
				x := machine.update.(*projected).x
				copy(x, direction(rng, n, 5))
				if set == "simplex" {
					machine.update.(*projected).projection.Project(x, x)
				}
				// Three of four features are near the angle at which the gradient is at the largest distance from the
				// centre.
				along := direction(rng, n, 1)
				if rng.IntN(4) > 0 {
					share := math.Sqrt(floats.Dot(x, x))
					for i := range along {
						along[i] = 0.43*x[i]/share + 0.9*along[i]
					}
					share = math.Sqrt(floats.Dot(along, along))
					for i := range along {
						along[i] /= share
					}
				}
				r := operators.Record{Event: event.Event{
					Vector: event.Vector{Values: along}, Label: float64(1 - 2*rng.IntN(2)), Weight: 1,
				}}
				if !c.Loss.Gradient(gradient, x, r.Event) {
					t.Fatal("no gradient")
				}
				mustTangent(t, c.Set).Project(gradient)
				for i, got := range units(t, machine, r) {
					if want := math.RoundToEven(gradient[i]/unit) * unit; got != want {
						t.Fatalf("%s, n = %d, at %v: %v becomes %g at %d, want %g", set, n, x, gradient, got, i, want)
					}
				}
			}
		}
	}
}

// TestRestoreRefusesADecisionOutsideTheSet checks that a state with a decision outside the set is refused, because the
// bound on centres holds only for decisions in the set.
func TestRestoreRefusesADecisionOutsideTheSet(t *testing.T) {
	for _, update := range []string{Projection, OGD, LLO} {
		for _, outside := range []float64{7.5, math.NaN(), math.Inf(1)} {
			c := logistic(t, 3)
			c.Update, c.Constants = update, Proved
			if update == LLO {
				c.Set = mustSet(t, "l1-ball", 3, 5)
			}
			machine := quiet(t, c, sharpest(c, mechanism(c, 16, 1)))
			state := machine.AppendState(nil)
			binary.LittleEndian.PutUint64(state[1:], math.Float64bits(outside))
			if machine.Restore(state) == nil {
				t.Errorf("%s: a decision with the coordinate %g is restored in a ball of radius 5", update, outside)
			}
		}
	}
}

// TestStoredParamsKeepTheirRule checks that the contribution follows the rule in a deployment's stored params, and not
// the rule of new params.
func TestStoredParamsKeepTheirRule(t *testing.T) {
	c := logistic(t, 4)
	m := mechanism(c, 16, 1)
	fresh := m
	if err := (operator{Config: c}).Require(&fresh, nil); err != nil || fresh.Contribution.Components[0].Quantiser == nil {
		t.Fatalf("%v: a new deployment has the contribution %+v", err, fresh.Contribution)
	}
	for what, mechanism := range map[string]mechanisms.Config{"before rules": m, "with a rule": fresh} {
		stored, err := operator{Config: c}.Params(mechanism)
		if err != nil {
			t.Fatal(err)
		}
		again := fresh
		if err := (operator{Config: c}).Require(&again, stored); err != nil {
			t.Fatal(err)
		}
		if a, b := mechtest.Plan(t, again), mechtest.Plan(t, mechanism); a.Sensitivity(again) != b.Sensitivity(mechanism) ||
			a.Scale != b.Scale || a.Grid != b.Grid {
			t.Errorf("%s: the plan %+v became %+v", what, b, a)
		}
		for name, other := range map[string]mechanisms.Config{"before rules": m, "with a rule": fresh} {
			p, err := ParseParams(stored)
			if err != nil {
				t.Fatal(err)
			}
			stream, err := mechanisms.Open(other, mechtest.Plan(t, other), [32]byte{1})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := New(c, p, stream); (err == nil) != (what == name) {
				t.Errorf("params %s over a stream %s: %v", what, name, err)
			}
		}
	}
	if err := (operator{Config: c}).Require(&fresh, []byte{9}); err == nil {
		t.Error("params of another version are taken")
	}
}

func TestParamsBytesOfContributions(t *testing.T) {
	p := Params{Contributions: Contributions{Rule: ruleCentre, Pull: 0.25, Offset: 0, Radius: 0.75, Reach: 0.5}}
	const golden = "0101000000000000d03f0000000000000000000000000000e83f000000000000e03f0000000000"
	stored, err := p.AppendBinary(nil)
	if err != nil || hex.EncodeToString(stored) != golden {
		t.Fatalf("stored params %x, %v, want %s", stored, err, golden)
	}
	if got, err := ParseParams(stored); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("parsed %+v, %v", got, err)
	}
	for what, change := range map[string]func(b []byte){
		"no rule": func(b []byte) { b[1] = 0 }, "a rule that there is not": func(b []byte) { b[1] = 3 },
		"of the norm, with a centre": func(b []byte) { b[1] = 2 },
		"reach above radius":         func(b []byte) { b[33] = 0x40 }, "negative radius": func(b []byte) { b[25] |= 0x80 },
		"negative zero": func(b []byte) { b[17] = 0x80 },
	} {
		b := append([]byte(nil), stored...)
		change(b)
		if got, err := ParseParams(b); err == nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

func TestAddWithACentreDoesNotAllocate(t *testing.T) {
	c := logistic(t, 32)
	machine := open(t, c, sharpest(c, mechanism(c, 1024, 1)), 1)
	counted := operators.ByCount(machine)
	e := event.Event{Vector: event.Vector{Values: direction(rand.New(rand.NewPCG(1, 1)), 32, 1)}, Label: 1, Weight: 1}
	dst := make([]operators.Decision, 0, 1)
	i := 0
	if n := testing.AllocsPerRun(200, func() { dst = counted.Add(dst[:0], record(i, e)); i++ }); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

// TestEveryMemoryHasTheDiameter checks that the sensitivity is the ball's diameter at large memories and dimensions
// too, where squared distances may exceed 64 bits.
func TestEveryMemoryHasTheDiameter(t *testing.T) {
	for _, x := range []struct {
		n      int
		memory uint64
	}{{32, 64}, {32, 65_536}, {4, 1 << 18}, {512, 65_536}, {32, 1 << 20}} {
		c := logistic(t, x.n)
		m := mechanism(c, 16, 1)
		m.Name, m.Scope = "blt", protection.Decay{Steps: x.memory}
		m = sharpest(c, m)
		plan, err := mechanisms.Calibrate(m)
		if err != nil {
			t.Errorf("%+v: %v", x, err)
			continue
		}
		if got := plan.Sensitivity(m); math.Abs(got-1.6173) > 1e-3 {
			t.Errorf("%+v: sensitivity %g", x, got)
		}
	}
}
