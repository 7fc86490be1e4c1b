package submodular

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas"
)

// enumerated is the exact law of all decisions of a life: every sequence of outcomes that its draws can have is forced
// on a machine, which tells what it draws by. The key is the sequence. fast is 1, or how many times too fast it is.
func enumerated(t *testing.T, c configured, m mechanisms.Config, p plan, events []operators.Record, fast float64,
) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	outcomes := make([]byte, m.Draws.Each*(m.Horizon/m.Draws.Every))
	stream := mechtest.Open(t, m, [32]byte{1})
	machine, err := newMachine(c, p, stream)
	if err != nil {
		t.Fatal(err)
	}
	start := machine.AppendState(nil)
	for {
		if err := machine.Restore(start); err != nil {
			t.Fatal(err)
		}
		probability, at := 1.0, 0
		stream.DrawBy(func(d mechanisms.Draw, _ int) int {
			rate := fast * d.Law.Epsilon.Up() / 2 * float64(d.Law.Sensitivity.Den) / float64(d.Law.Sensitivity.Num)
			total := 0.0
			for _, q := range d.Scores {
				total += math.Exp(rate * float64(q))
			}
			probability *= math.Exp(rate*float64(d.Scores[outcomes[at]])) / total
			at++
			return int(outcomes[at-1])
		})
		var said []byte
		for _, r := range events {
			for _, d := range machine.Add(nil, r) {
				for _, x := range d.Point {
					said = append(said, byte(x))
				}
			}
		}
		if at != len(outcomes) {
			t.Fatalf("%d draws in a life, %d are accounted", at, len(outcomes))
		}
		out[string(said)] += probability
		i := 0
		for ; i < len(outcomes); i++ {
			if outcomes[i]++; int(outcomes[i]) < c.elements {
				break
			}
			outcomes[i] = 0
		}
		if i == len(outcomes) {
			return out
		}
	}
}

// hockeyStick is the least δ at which two laws are (ε, δ)-close in one direction.
func hockeyStick(a, b map[string]float64, epsilon float64) (delta float64) {
	for said, p := range a {
		delta += max(0, p-math.Exp(epsilon)*b[said])
	}
	return delta
}

// Of two experts all outcomes are enumerated, for neighbours of all kinds: what decisions tell is exactly within the
// claim, and of pure ε some pair has half of it and more. At a rate that is twice too fast it is not within.
func TestTwoExpertsAreWithinTheirClaim(t *testing.T) {
	values := func(v ...float64) operators.Record {
		return operators.Record{Event: schemas.Event{Vector: schemas.Vector{Values: v}}}
	}
	null := operators.Record{Null: true}
	kinds := []operators.Record{
		values(1, 0, 0), values(0, 0, 1), values(1, 1, 0), values(0, 1, 1), values(0.5, 0.2, 1), values(9, -3, 0.1), null,
	}
	around := []operators.Record{values(0, 1, 0.3), values(0.7, 0, 1), null}
	for _, budget := range []dp.Budget{{Epsilon: 2}, {Epsilon: 1.5, Delta: 0.02}, {Epsilon: 0.4, Delta: 1e-3}} {
		for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
			m := whole(3, budget.Epsilon)
			m.Budget, m.Adjacency = budget, adjacency
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
					check(worst, most, where)
				}
				laws := make([]map[string]float64, len(kinds))
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
						worst = max(worst, hockeyStick(laws[i], laws[j], budget.Epsilon))
						for said, x := range laws[i] {
							if ratio := math.Log(x / laws[j][said]); ratio > most {
								most, where = ratio, said
							}
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

// Printed and tight rates of the source's setting: k = 3, N = 10, T = 1000, ε = 1, δ = 1e-6. Tight is above what ρ =
// (√(ε + ln(1/δ)) − √ln(1/δ))² would allow, η = 3.412614e-3, since dp.ZCDPRho computes δ(ρ).
func TestRatesOfDraws(t *testing.T) {
	m := whole(1000, 1)
	eta := func(adjacency dp.Adjacency, lines ...string) float64 {
		m.Adjacency = adjacency
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

// One that stands twice in a set gains it nothing, neither in what is learned nor in what is scored.
func TestWhatIsDrawnTwiceCountsOnce(t *testing.T) {
	for _, f := range functions {
		c, m, p := config(t, whole(8, 4), "RULE=draws", "PICK=3", "ELEMENTS=4", "EMIT_EVERY=1", "FUNCTION="+f)
		machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{1}))
		if err != nil {
			t.Fatal(err)
		}
		e := schemas.Event{Vector: schemas.Vector{Values: []float64{0.4, 0.5, 0.6, 0.8}}}
		leaf := func(set ...int) []float64 {
			copy(machine.set, set)
			return slices.Clone(machine.leaf(operators.Record{Event: e}))
		}
		twice, once := leaf(1, 1, 2), leaf(1, 2, 0)
		if !slices.Equal(twice[8:], append(once[4:8:8], 0)[:4]) {
			t.Errorf("%s: behind 1 and 1 gains are %v, behind 1 %v", f, twice[8:], once[4:8])
		}
		if a, b := c.missed(nil, []float64{1, 1, 2}, e), c.missed(nil, []float64{1, 2, 1}, e); math.Abs(a-b) > 1e-12 {
			t.Errorf("%s: 1, 1, 2 misses %g, and 1, 2, 1 %g", f, a, b)
		}
	}
}

// A step with draws allocates nothing.
func TestDrawsAllocateNothing(t *testing.T) {
	c, m, p := config(t, whole(2000, 40), "RULE=draws", "PICK=3", "ELEMENTS=20", "EMIT_EVERY=1")
	machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	events, dst, i := drawn(c, 64, 1), make([]operators.Decision, 0, 1), 0
	if n := testing.AllocsPerRun(500, func() {
		dst = machine.Add(dst[:0], operators.Record{Event: events[i%64], Identity: noise.Identity{Offset: int64(i)}})
		i++
	}); n > 0 {
		t.Errorf("%g allocations a step", n)
	}
}

// A draw at each step costs what its stream costs, and the draws.
func BenchmarkDraws(b *testing.B) {
	for _, kind := range []struct {
		name  string
		lines []string
	}{
		{"N=100/k=5/every=1", []string{"RULE=draws", "PICK=5", "ELEMENTS=100", "EMIT_EVERY=1"}},
		{"N=100/k=5/every=1000", []string{"RULE=draws", "PICK=5", "ELEMENTS=100", "EMIT_EVERY=1000"}},
	} {
		b.Run(kind.name, func(b *testing.B) { benchmark(b, whole(1<<30, 1), kind.lines...) })
	}
}
