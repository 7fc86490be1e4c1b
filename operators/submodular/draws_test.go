package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// published runs events through a machine, and returns its decisions as text.
func published(machine *Machine, events []operators.Record) (out string) {
	counted := operators.ByCount(machine)
	for i, r := range events {
		r.Identity.Offset = int64(i)
		out += shownBy(counted.Add(nil, r))
	}
	return out
}

func shownBy(made []operators.Decision) string {
	var out []byte
	for _, d := range made {
		for _, x := range d.Point {
			out = append(out, byte(x))
		}
	}
	return string(out)
}

// enumerated computes the exact law of all decisions of a stream's life. fast is the factor by which the rate is too
// high: 1, or more as a planted fault.
func enumerated(t *testing.T, c operator, m mechanisms.Config, p params, events []operators.Record, fast float64,
) optest.Law {
	t.Helper()
	stream := mechtest.Open(t, m, [32]byte{1})
	machine, err := newMachine(c, p, stream)
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	start := machine.AppendState(nil)
	play := func(step int, state []byte) (after []byte, output string) {
		if err := machine.Restore(state); err != nil {
			t.Fatal(err)
		}
		r := events[step]
		r.Identity.Offset = int64(step)
		output = shownBy(counted.Add(nil, r))
		return machine.AppendState(nil), output
	}
	return optest.LawOfSteps(stream, mechtest.Plan(t, m).DrawLaw(m), fast, start, len(events), play)
}

// TestTwoExpertsAreWithinTheirClaim enumerates all outcomes of two experts on neighbouring streams of all kinds. The
// exact privacy loss of decisions must be within the claim, and for pure ε some pair of streams must lose at least half
// of the claim. At twice the rate the claim must fail.
func TestTwoExpertsAreWithinTheirClaim(t *testing.T) {
	values := func(v ...float64) operators.Record {
		return operators.Record{Event: event.Event{Vector: event.Vector{Values: v}}}
	}
	null := operators.Record{Null: true}
	kinds := []operators.Record{
		values(1, 0, 0), values(0, 0, 1), values(1, 1, 0), values(0, 1, 1), values(0.5, 0.2, 1), values(9, -3, 0.1), null,
	}
	around := []operators.Record{values(0, 1, 0.3), values(0.7, 0, 1), null}
	for row, budget := range []dp.Budget{{Epsilon: 2}, {Epsilon: 1.5, Delta: 0.02}, {Epsilon: 0.4, Delta: 1e-3}} {
		adjacencies := []dp.Adjacency{dp.Replace, dp.ZeroOut}
		for _, adjacency := range tiertest.Runs(adjacencies[row%2:row%2+1], adjacencies) {
			m := lifetime(3, budget.Epsilon)
			m.Budget, m.Unit = budget, protection.Event{Exchange: adjacency}
			c, m, p := config(t, m, "RULE=draws", "PICK=2", "ELEMENTS=3", "EMIT_EVERY=1")
			check := func(worst, most float64, where string) {
				t.Logf("%+v, %v: δ %.3g at ε, largest ratio e^%.4f", budget, adjacency, worst, most)
				if worst > budget.Delta+1e-12 {
					t.Errorf("%+v, %v: δ is %g", budget, adjacency, worst)
				}
				if budget.Delta == 0 && (most > budget.Epsilon || most < 0.5*budget.Epsilon) {
					t.Errorf("%+v, %v: a ratio of e^%g, at %q", budget, adjacency, most, where)
				}
			}
			worst, most, where := 0.0, 0.0, ""
			for run := range 4 {
				at, fast := run%3, 1.0
				if run == 3 {
					fast = 2
					if check(worst, most, where); adjacency != dp.ZeroOut {
						break
					}
				}
				laws := make([]optest.Law, len(kinds))
				for i, kind := range kinds {
					events := slices.Clone(around)
					events[at] = kind
					laws[i] = enumerated(t, c, m, p, events, fast)
				}
				for i := range kinds {
					for j := range kinds {
						if i == j || adjacency == dp.ZeroOut && !kinds[i].Null && !kinds[j].Null {
							continue
						}
						worst = max(worst, laws[i].HockeyStick(laws[j], budget.Epsilon))
						if ratio, published := largestRatio(laws[i], laws[j]); ratio > most {
							most, where = ratio, published
						}
					}
				}
			}
			if adjacency == dp.ZeroOut && worst <= budget.Delta {
				t.Errorf("%+v, %v: a rate that is twice too fast is not caught: δ is %g", budget, adjacency, worst)
			}
		}
	}
}

// TestCompleteLivesStayWithinTheClaim samples complete lives of two neighbouring streams, each under a fresh key. The
// samples must have the enumerated law, which shows that the draws of a life are independent given their weights. An
// observer sees complete lives and knows all events but one. This observer must measure most of the possible privacy
// loss, or half of it in the short form, whose limits are wider, and never more than the claim. With two planted faults
// the test must fail: draws at four times the rate, which lose more, and repeated seeds, which give another law. A
// false alarm has probability below 1e-5.
func TestCompleteLivesStayWithinTheClaim(t *testing.T) {
	values := func(v ...float64) operators.Record {
		return operators.Record{Event: event.Event{Vector: event.Vector{Values: v}}}
	}
	neighbours := [2][]operators.Record{}
	for i, first := range []operators.Record{values(1, 0, 0), values(0, 1, 1)} {
		neighbours[i] = append([]operators.Record{first}, slices.Repeat([]operators.Record{values(0.5, 0.5, 0)}, 5)...)
	}
	for _, budget := range []dp.Budget{{Epsilon: 3}, {Epsilon: 2, Delta: 0.01}} {
		m := lifetime(6, budget.Epsilon)
		m.Budget = budget
		c, m, p := config(t, m, "RULE=draws", "PICK=1", "ELEMENTS=3", "EMIT_EVERY=1")
		opened, err := mechanisms.NewMechanism(m, mechtest.Plan(t, m))
		if err != nil {
			t.Fatal(err)
		}
		var laws [2]optest.Law
		for i, events := range neighbours {
			laws[i] = enumerated(t, c, m, p, events, 1)
		}
		for _, fault := range []string{"", "fast", "seed"} {
			lives := tiertest.Runs(map[string]int{"": 16_000, "fast": 10_000, "seed": 5_000}[fault], 40_000)
			var counts [2]map[string]int
			for i, events := range neighbours {
				counts[i] = counted(lives, func(key [32]byte) string {
					if fault == "seed" {
						clear(key[1:3]) // only 256 different keys are left
					}
					if i == 1 {
						key[31] = 1
					}
					stream := opened.Open(key)
					if fault == "fast" {
						stream.DrawBy(hasty(key))
					}
					machine, err := newMachine(c, p, stream)
					if err != nil {
						t.Fatal(err)
					}
					return published(machine, events)
				})
			}
			shown, most := demonstrated(laws[0], laws[1], counts[0], counts[1], lives, budget.Delta)
			t.Logf("%+v, fault %q: ε = %.3f is shown of %.3f there is", budget, fault, shown, most)
			switch fault {
			case "":
				holds(t, laws[0], counts[0])
				holds(t, laws[1], counts[1])
				if shown > budget.Epsilon || shown < tiertest.Runs(0.5, 0.7)*most || most < 0.4*budget.Epsilon {
					t.Errorf("%+v: ε = %g is shown of %g there is", budget, shown, most)
				}
			case "fast":
				if shown < budget.Epsilon {
					t.Errorf("%+v: draws that are four times too fast show ε = %g", budget, shown)
				}
			default:
				quiet := &silent{TB: t}
				if holds(quiet, laws[0], counts[0]); !quiet.failed {
					t.Errorf("%+v: seeds that return have the law of those that do not", budget)
				}
			}
		}
	}
}

// hasty returns a draw at four times the rate.
func hasty(key [32]byte) func(d mechanisms.Draw, _ int) int {
	rng := rand.New(rand.NewChaCha8(key))
	return func(d mechanisms.Draw, _ int) int {
		rate, least, by := 2*d.Law.Epsilon.Up()/float64(d.Law.Sensitivity.Num), math.Inf(1), 0
		for i, q := range d.Scores { // exponential clocks: the index whose clock rings first
			if at := rng.ExpFloat64() * math.Exp(-rate*float64(q)); at < least {
				least, by = at, i
			}
		}
		return by
	}
}

// silent records a test failure instead of failing.
type silent struct {
	testing.TB
	failed bool
}

func (s *silent) Helper()               {}
func (s *silent) Errorf(string, ...any) { s.failed = true }

// TestRatesOfDraws checks printed and tight rates in the setting of the source paper: k = 3, N = 10, T = 1000, ε = 1, δ
// = 1e-6. The tight rate exceeds η = 3.412614e-3, which ρ = (√(ε + ln(1/δ)) − √ln(1/δ))² would allow, because
// dp.ZCDPRho uses the exact δ(ρ).
func TestRatesOfDraws(t *testing.T) {
	m := lifetime(1000, 1)
	eta := func(adjacency dp.Adjacency, lines ...string) float64 {
		m.Unit = protection.Event{Exchange: adjacency}
		_, m, _ := config(t, m, append([]string{"RULE=draws", "PICK=3", "ELEMENTS=10"}, lines...)...)
		plan := mechtest.Plan(t, m)
		return 1 / (plan.Scale.Float64() * plan.Grid.Unit())
	}
	near := func(name string, got, least, most float64) {
		if got < least || got > most {
			t.Errorf("%s: η = %.8g, want %.8g to %.8g", name, got, least, most)
		}
	}
	const printed = 4.82508e-4
	tight := math.Sqrt(2 * dp.ZCDPRho(m.Budget) / 3000)
	near("tight by zCDP", tight, 3.412614e-3, 1.2*3.412614e-3)
	near("printed", eta(dp.Replace, "EMIT_EVERY=1", "RATE=printed"), printed*0.99999, printed*1.00001)
	near("printed, against null", eta(dp.ZeroOut, "EMIT_EVERY=1", "RATE=printed"), printed*0.99999, printed*1.00001)
	near("tight", eta(dp.Replace, "EMIT_EVERY=1"), tight*0.9999, tight*1.0001)
	near("tight, against null", eta(dp.ZeroOut, "EMIT_EVERY=1"), 2*tight*0.9999, 2*tight*1.0001)
	ten := eta(dp.Replace, "EMIT_EVERY=10") / eta(dp.Replace, "EMIT_EVERY=1")
	near("ten times as seldom", ten, math.Sqrt(10)*0.9999, math.Sqrt(10)*1.0001)
}

// TestRepeatedElementsCountOnce checks that an element that appears twice in a set adds nothing the second time,
// neither in learning nor in scores.
func TestRepeatedElementsCountOnce(t *testing.T) {
	for _, f := range functions {
		c, m, p := config(t, lifetime(8, 4), "RULE=draws", "PICK=3", "ELEMENTS=4", "EMIT_EVERY=1", "FUNCTION="+f)
		machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{1}))
		if err != nil {
			t.Fatal(err)
		}
		e := event.Event{Vector: event.Vector{Values: []float64{0.4, 0.5, 0.6, 0.8}}}
		added := func(set ...int) []float64 {
			copy(machine.set, set)
			return slices.Clone(machine.contribution(operators.Record{Event: e}))
		}
		twice, once := added(1, 1, 2), added(1, 2, 0)
		if !slices.Equal(twice[8:], append(once[4:8:8], 0)[:4]) {
			t.Errorf("%s: behind 1 and 1 gains are %v, behind 1 %v", f, twice[8:], once[4:8])
		}
		if a, b := c.missed(nil, []float64{1, 1, 2}, e), c.missed(nil, []float64{1, 2, 1}, e); math.Abs(a-b) > 1e-12 {
			t.Errorf("%s: 1, 1, 2 misses %g, and 1, 2, 1 %g", f, a, b)
		}
	}
}

// TestDrawsAllocateNothing checks that a step with draws allocates nothing.
func TestDrawsAllocateNothing(t *testing.T) {
	c, m, p := config(t, lifetime(2000, 40), "RULE=draws", "PICK=3", "ELEMENTS=20", "EMIT_EVERY=1")
	machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	events, dst, i := drawn(c, 64, 1), make([]operators.Decision, 0, 1), 0
	if n := testing.AllocsPerRun(500, func() {
		dst = counted.Add(dst[:0], operators.Record{Event: events[i%64], Identity: noise.Identity{Offset: int64(i)}})
		i++
	}); n > 0 {
		t.Errorf("%g allocations a step", n)
	}
}

// BenchmarkDraws measures a draw at each step, with the cost of its stream.
func BenchmarkDraws(b *testing.B) {
	for _, kind := range []struct {
		name  string
		lines []string
	}{
		{"N=100/k=5/every=1", []string{"RULE=draws", "PICK=5", "ELEMENTS=100", "EMIT_EVERY=1"}},
		{"N=100/k=5/every=1000", []string{"RULE=draws", "PICK=5", "ELEMENTS=100", "EMIT_EVERY=1000"}},
	} {
		b.Run(kind.name, func(b *testing.B) { benchmark(b, lifetime(1<<30, 1), kind.lines...) })
	}
}
