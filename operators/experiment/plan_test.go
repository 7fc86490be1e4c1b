package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/elementary"
)

func TestPlansOfTheirFormulas(t *testing.T) {
	s := halves(0.1, 200)
	plan := s.Plan(1, 0.015, 0, 0.8, 1000)
	once := 2 * (0.1*0.9 + 0.115*0.885)
	if want := math.Ceil(math.Pow(1.959963985+0.841621234, 2) * once / (0.015 * 0.015)); math.Abs(plan.OneLook-want) > 1 {
		t.Errorf("one look: %g, want %g", plan.OneLook, want)
	}
	if !(plan.OneLook < plan.NoPrivacy && plan.NoPrivacy < plan.AlwaysLook && plan.AlwaysLook < 2.5*plan.OneLook) {
		t.Errorf("%+v", plan)
	}
	if none := s.Plan(1, 0.015, 0, 0.8, 10); none.AlwaysLook != 0 {
		t.Errorf("ten steps: %+v", none)
	}
	if large := s.Plan(1, 0.5, 0, 0.8, 1000); large.NoPrivacy != FirstLook {
		t.Errorf("found at the first look: %+v", large)
	}
	s.Square = draw
	amounts := s.Plan(1, 0.015, 0.15, 0.8, 1000)
	want := math.Ceil(math.Pow(1.959963985+0.841621234, 2) * 4 * 0.15 * 0.15 / (0.015 * 0.015))
	if amounts.OneLook != want {
		t.Errorf("amounts, one look: %g, want %g", amounts.OneLook, want)
	}
	s.Square = 0
	blind := s.Plan(1, 0.015, 0.15, 0.8, 1000) // without squares, looks assume outcomes of 0 and 1
	if !(amounts.NoPrivacy < 0.4*plan.NoPrivacy && 1.1*amounts.AlwaysLook < blind.AlwaysLook &&
		blind.AlwaysLook < plan.AlwaysLook) {
		t.Errorf("amounts: %+v with squares, %+v without; conversions: %+v", amounts, blind, plan)
	}
}

// TestCrossings checks two motions. One that is observed once must cross as often as the normal law says. One with
// drift, observed at every 1/64 from a clock of 1 on, must cross √(A + 1) as often as simulated walks do, although
// crossings are computed at fewer times.
func TestCrossings(t *testing.T) {
	var once crossing
	once.move(4, 3)
	if want := 1 - elementary.Normal(1.5); math.Abs(once.crossed()-want) > 1e-4 {
		t.Errorf("once: %g, want %g", once.crossed(), want)
	}
	const fine = 1.0 / 64
	bound := func(clock float64) float64 { return math.Sqrt(clock + 1) }
	watched := crossing{drift: 0.2}
	for clock := 1.0; clock <= 4; clock *= 1.5 {
		watched.move(clock, bound(clock)+between*math.Sqrt(fine))
	}
	rng, met, runs := rand.New(rand.NewPCG(4, 4)), 0, tiertest.Runs(3000, 300000)
	for range runs {
		at, clock := 0.2+rng.NormFloat64(), 1.0
		for at < bound(clock) && clock+fine <= watched.clock {
			at, clock = at+0.2*fine+math.Sqrt(fine)*rng.NormFloat64(), clock+fine
		}
		if at >= bound(clock) {
			met++
		}
	}
	share := float64(met) / float64(runs)
	if error := math.Sqrt(0.25 / float64(runs)); math.Abs(share-watched.crossed()) > 6*error+0.005 {
		t.Errorf("watched: %g, walks %g ± %g", watched.crossed(), share, error)
	}
}

// planned returns experiments, each with settings and an effect.
func planned() []setting {
	of := func(name string, s Settings, effect float64) setting {
		return setting{name: name, s: s, rates: constant(s.Near, s.Near+effect, s.Near)}
	}
	all := []setting{of("p = 0.1", halves(0.1, 200), 0.015)}
	if tiertest.Runs(0, 1) == 0 {
		return all
	}
	tenth := halves(0.1, 200)
	tenth.Propensities = []float64{0.9, 0.1}
	nine := halves(0.1, 200)
	nine.Propensities = []float64{0.1, 0.9}
	three := halves(0.1, 200)
	three.Propensities = []float64{0.4, 0.3, 0.3}
	life := halves(0.1, 100)
	life.Noise, life.Start = *memory1024(), 500
	seldom := halves(0.02, 500)
	seldom.Noise = *memory1024()
	early := halves(0.1, 100)
	early.Target = 200000
	squares := halves(0.05, 200)
	squares.Square = draw
	amounts := of("exponential amounts", squares, 0.005)
	amounts.deviation = 0.05
	amounts.outcomes = func(rng *rand.Rand, arm int) float64 { return min(1, 0.05*rng.ExpFloat64()+0.005*float64(arm)) }
	return append(all,
		amounts,
		of("p = 0.1, effect 0.01", halves(0.1, 100), 0.01), of("p = 0.1, looked for late", early, 0.01),
		of("p = 0.5", halves(0.5, 100), 0.02), of("p = 0.02", halves(0.02, 1000), 0.004),
		of("p = 0.02, effect 0.006", halves(0.02, 100), 0.006), of("small steps", halves(0.1, 10), 0.03),
		of("a tenth in the treatment", tenth, 0.015), of("a tenth in the control", nine, 0.015),
		of("three arms", three, 0.01), of("for life", life, 0.01),
		of("for life, p = 0.02", seldom, 0.004))
}

// TestPlansTakeTheVarianceOfLooks checks the variance that looks use if nine of ten events are in one arm. Looks then
// use the variance over all arms, and not the second moments about 0.02, which are 0.0292 in the arm and 0.0196 in the
// control.
func TestPlansTakeTheVarianceOfLooks(t *testing.T) {
	s := halves(0.02, 100)
	s.Propensities = []float64{0.1, 0.9}
	want := (0.9*0.0292 + 0.1*0.0196) * (1/0.9 + 1/0.1)
	if got := s.taken(1, 0.03, 0); math.Abs(got-want) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
}

// TestPlansAreThoseOfRuns checks that 80 % of simulated experiments have stopped at a number of events between 1/20
// below and 1/5 above the plan. It covers experiments that stop when their sequence excludes 0, and experiments that
// stop at the verdict.
func TestPlansAreThoseOfRuns(t *testing.T) {
	runs := tiertest.Runs(60, 2000)
	for _, c := range planned() {
		plan := c.s.Plan(1, c.rates(1, 0)-c.rates(0, 0), c.deviation, 0.8, 4000)
		x, arms := New(c.s), make([]Arm, len(c.s.Propensities))
		fresh := append([]float64(nil), x.State()...)
		var left, named []float64 // number of events at which each run has stopped
		for seed := range runs {
			copy(x.State(), fresh)
			src := newSource(&c.s, uint64(seed), c.rates)
			src.outcomes = c.outcomes
			found := false
			for x.EventsSeen() < 2*plan.AlwaysLook {
				src.step(arms)
				x.Take(arms)
				if !found && x.Better(1) {
					named, found = append(named, x.EventsSeen()), true
				}
				if x.Effect(1).Low > 0 {
					left = append(left, x.EventsSeen())
					break
				}
			}
		}
		tolerance := 5 * math.Sqrt(0.16/float64(runs))
		for name, stops := range map[string][]float64{"sequence": left, "verdict": named} {
			slices.Sort(stops)
			by := func(events float64) float64 {
				i, _ := slices.BinarySearch(stops, events+1)
				return float64(i) / float64(runs)
			}
			at := slices.Concat(stops, []float64{math.Inf(1)})[min(len(stops), runs*4/5)]
			t.Logf("%s: %g planned, %g by the %s, ratio %.3f", c.name, plan.AlwaysLook, at, name, plan.AlwaysLook/at)
			if late, soon := by(plan.AlwaysLook/0.95), by(plan.AlwaysLook/1.2); late < 0.8-tolerance || soon > 0.8+tolerance {
				t.Errorf("%s, %s: %g of runs have stopped by %g, %g by %g", c.name, name, late, plan.AlwaysLook/0.95, soon,
					plan.AlwaysLook/1.2)
			}
		}
	}
}
