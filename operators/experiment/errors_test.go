package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// setting holds the settings of simulated runs of an experiment.
type setting struct {
	name      string
	s         Settings
	rates     func(arm int, event float64) float64
	outcomes  func(rng *rand.Rand, arm int) float64 // draws outcomes; nil: outcomes are conversions
	deviation float64                               // standard deviation of an arm's outcomes; 0 for conversions
}

// exponential draws outcomes with a mean of 0.05. Heavy outcomes have a Pareto tail of index 1.5, clamped at 1.
func exponential(rng *rand.Rand, _ int) float64 { return min(1, 0.05*rng.ExpFloat64()) }

func heavy(rng *rand.Rand, _ int) float64 { return min(1, 0.02*math.Pow(1-rng.Float64(), -1/1.5)) }

func lognormal(rng *rand.Rand, _ int) float64 {
	return min(1, 0.05*math.Exp(1.5*rng.NormFloat64()-1.125))
}

func settingsOfErrors() []setting {
	var all []setting
	add := func(name string, s Settings, rates func(int, float64) float64) {
		all = append(all, setting{name: name, s: s, rates: rates})
	}
	for _, p := range []float64{0.02, 0.1, 0.5} {
		for _, events := range tiertest.Runs([]float64{100}, []float64{10, 100, 1000}) {
			add(fmt.Sprintf("p = %g, %g events a step", p, events), halves(p, events), constant(p))
		}
	}
	add("m wrong by a fifth", halves(0.12, 100), constant(0.1))
	add("m wrong by a half", halves(0.03, 100), constant(0.02))
	drawn := func(near float64, propensities ...float64) Settings {
		s := halves(near, 100)
		s.Propensities = propensities
		return s
	}
	add("a tenth in the treatment", drawn(0.1, 0.9, 0.1), constant(0.1))
	add("three arms, unequal", drawn(0.1, 0.5, 0.3, 0.2), constant(0.1))
	add("five arms", drawn(0.1, 0.2, 0.2, 0.2, 0.2, 0.2), constant(0.1))
	levels := func(_ int, event float64) float64 { return 0.1 + 0.09*math.Sin(event/8000) }
	add("levels that drift", halves(0.1, 100), levels)
	jump := func(_ int, event float64) float64 {
		if event < 15000 {
			return 0.02
		}
		return 0.3
	}
	add("a level that jumps", halves(0.1, 100), jump)
	rare := drawn(0.005, 0.9, 0.1) // there is little noise; see PROOF.md, As coded
	rare.Count, rare.Value, rare.Events = draw/8, draw/8, 50
	add("rare conversions, a tenth in the treatment, ε = 8", rare, constant(0.005))
	for _, c := range []struct {
		name     string
		square   float64
		outcomes func(*rand.Rand, int) float64
	}{
		{"exponential outcomes, with squares", draw, exponential},
		{"heavy tails, with squares", draw, heavy},
		{"heavy tails, without squares", 0, heavy},
		{"lognormal outcomes, with squares", draw, lognormal},
	} {
		s := halves(0.05, 100)
		s.Square = c.square
		all = append(all, setting{name: c.name, s: s, rates: constant(0), outcomes: c.outcomes})
	}
	life := func(near float64, start, period uint64) Settings {
		s := halves(near, 100)
		s.Noise, s.Start = *memory1024(), start
		s.Noise.Period = period
		return s
	}
	tails := life(0.05, 0, 1<<20)
	tails.Propensities, tails.Square = []float64{0.9, 0.1}, draw
	all = append(all, setting{
		name: "for life, a tenth in the treatment, heavy tails", s: tails, rates: constant(0), outcomes: heavy,
	})
	add("for life, over a reset", life(0.1, 900, 1024), constant(0.1))
	add("for life, p = 0.02", life(0.02, 0, 1<<20), constant(0.02))
	return all
}

// tolerated returns how many of the runs may fail if each fails with probability at most 0.05. The long form allows 3
// standard errors. The short form has few runs, and a false alarm has a probability below 1e-9 (Chernoff).
func tolerated(runs int) int {
	if runs >= 1000 {
		return int(float64(runs)*0.05 + 3*math.Sqrt(float64(runs)*0.05*0.95))
	}
	for k := runs / 20; ; k++ {
		q := float64(k) / float64(runs)
		if q >= 1 || q > 0.05 && float64(runs)*(q*math.Log(q/0.05)+(1-q)*math.Log((1-q)/0.95)) > 9*math.Ln10 {
			return k
		}
	}
}

// TestErrorsAtAnyLook checks runs with an effect of zero. In at most 5 % of them a sequence excludes zero at any look,
// or an arm is found better.
func TestErrorsAtAnyLook(t *testing.T) {
	runs, looks := tiertest.Runs(30, 10000), tiertest.Runs(200, 1000)
	for _, c := range settingsOfErrors() {
		x := New(c.s)
		fresh := append([]float64(nil), x.State()...)
		outside, better := 0, 0
		arms := make([]Arm, len(c.s.Propensities))
		for seed := range runs {
			copy(x.State(), fresh)
			src, missed := newSource(&c.s, uint64(seed), c.rates), false
			src.outcomes = c.outcomes
			for range looks {
				src.step(arms)
				x.Take(arms)
				for k := 1; k < len(arms); k++ {
					e := x.Effect(k)
					missed = missed || e.Low > 0 || e.High < 0
				}
			}
			found := false
			for k := 1; k < len(arms); k++ {
				found = found || x.Better(k)
			}
			if missed {
				outside++
			}
			if found {
				better++
			}
		}
		t.Logf("%s: %d and %d of %d", c.name, outside, better, runs)
		if most := tolerated(runs); outside > most || better > most {
			t.Errorf("%s: %d runs miss the truth, %d find an arm better, of %d: above %d", c.name, outside, better, runs, most)
		}
	}
}

// TestErrorsOfLiftsAndMeans checks that the sequences of lifts and of means contain the truth at all looks together.
func TestErrorsOfLiftsAndMeans(t *testing.T) {
	runs, looks := tiertest.Runs(30, 10000), tiertest.Runs(200, 1000)
	s := halves(0.1, 100)
	s.Lift = true
	x, arms := New(s), make([]Arm, 2)
	fresh := append([]float64(nil), x.State()...)
	lifts, means := 0, 0
	for seed := range runs {
		copy(x.State(), fresh)
		src, lift, mean := newSource(&s, uint64(seed), constant(0.1, 0.11)), false, false
		for range looks {
			src.step(arms)
			x.Take(arms)
			if x.Ready() {
				m := x.Mean(1)
				lift, mean = lift || x.rejects(1, 1.1), mean || m.Low > 0.11 || m.High < 0.11
			}
		}
		if lift {
			lifts++
		}
		if mean {
			means++
		}
	}
	t.Logf("%d and %d of %d", lifts, means, runs)
	if most := tolerated(runs); lifts > most || means > most {
		t.Errorf("%d runs miss the lift, %d the mean, of %d: above %d", lifts, means, runs, most)
	}
}

// TestSequencesFollowADriftingEffect checks that the sequence contains the weighted average of the effects so far. The
// test takes the weights from a bank that knows the true effects.
func TestSequencesFollowADriftingEffect(t *testing.T) {
	runs, looks := tiertest.Runs(40, 10000), tiertest.Runs(300, 1000)
	s := halves(0.2, 100)
	effect := func(event float64) float64 { return 0.03 * math.Sin(event/3000) }
	outside := 0
	for seed := range runs {
		x := New(s)
		src := newSource(&s, uint64(seed), func(arm int, event float64) float64 { return 0.2 + float64(arm)*effect(event) })
		room := make([]float64, bankLen(len(x.bank.ratios), len(s.Noise.Poles), 1))
		truth := newBank(&s.Noise, x.bank.ratios, 1, s.Events, &origin{}, room)
		arms, missed := make([]Arm, 2), false
		for range looks {
			now := effect(src.events)
			src.step(arms)
			x.Take(arms)
			truth.step([]float64{now * s.Events})
			if !x.Ready() {
				continue
			}
			f := x.effect(1)
			for i := range x.bank.ratios { // the look uses the filter with this information
				if x.bank.informationOf(i) == f.information && truth.sum(i, 0)/truth.informationOf(i)-f.estimate() != 0 {
					missed = missed || math.Abs(truth.sum(i, 0)/truth.informationOf(i)-f.estimate()) > f.halfWidth(0.05)
				}
			}
		}
		if missed {
			outside++
		}
	}
	t.Logf("%d of %d", outside, runs)
	if most := tolerated(runs); outside > most {
		t.Errorf("%d of %d runs miss the truth: above %d", outside, runs, most)
	}
}

// TestMeansOfEValues checks that e-values without an effect have a mean of at most 1, at fixed looks and at the first
// look with e ≥ 5.
func TestMeansOfEValues(t *testing.T) {
	runs, looks := tiertest.Runs(150, 10000), tiertest.Runs(100, 1000)
	s := halves(0.1, 100)
	x := New(s)
	fresh := append([]float64(nil), x.State()...)
	const fixed = 20
	sums, squares := make([]float64, fixed+1), make([]float64, fixed+1)
	arms := make([]Arm, 2)
	for seed := range runs {
		copy(x.State(), fresh)
		src, stopped, last := newSource(&s, uint64(seed), constant(0.1)), false, 0.0
		add := func(i int, e float64) {
			sums[i] += e
			squares[i] += e * e
		}
		for l := range looks {
			src.step(arms)
			x.Take(arms)
			last = x.Evidence(1).E
			if (l+1)%(looks/fixed) == 0 {
				add((l+1)/(looks/fixed)-1, last)
			}
			if !stopped && last >= 5 {
				stopped = true
				add(fixed, last)
			}
		}
		if !stopped {
			add(fixed, last)
		}
	}
	n := float64(runs)
	for i := range sums {
		mean := sums[i] / n
		error := math.Sqrt(max(squares[i]/n-mean*mean, 0) / n)
		t.Logf("%d: %.3f ± %.3f", i, mean, error)
		if mean > 1+tiertest.Runs(6.0, 3)*error {
			t.Errorf("at %d: mean %g ± %g", i, mean, error)
		}
	}
}

// TestVerdictsFollowTheEffect checks that a worse arm is never found better, for any e-value, and that a better arm is
// found after about the planned number of events.
func TestVerdictsFollowTheEffect(t *testing.T) {
	s := halves(0.1, 100)
	runs, arms := tiertest.Runs(8, 200), make([]Arm, 2)
	for seed := range runs {
		x, src := New(s), newSource(&s, uint64(seed), constant(0.1, 0.07))
		for range 400 {
			src.step(arms)
			x.Take(arms)
		}
		if e := x.Evidence(1); x.Better(1) || !(e.E > 20 && e.P < 0.05) {
			t.Errorf("seed %d: worse by 0.03: better %v, %+v", seed, x.Better(1), e)
		}
		x, src = New(s), newSource(&s, uint64(seed), constant(0.1, 0.13))
		for range 400 {
			src.step(arms)
			x.Take(arms)
		}
		if e := x.Effect(1); !x.Better(1) || e.Low <= 0 || e.High < 0.02 {
			t.Errorf("seed %d: better by 0.03: %v, %+v", seed, x.Better(1), e)
		}
	}
}

// TestWrongPropensitiesAreReported checks that arms that are not drawn with their propensities are reported, and that
// there is then no verdict on an effect.
func TestWrongPropensitiesAreReported(t *testing.T) {
	s := halves(0.1, 100)
	x, arms := New(s), make([]Arm, 2)
	drawn := s
	drawn.Propensities = []float64{0.46, 0.54}
	src := newSource(&drawn, 1, constant(0.1, 0.2))
	for range 300 {
		src.step(arms)
		x.Take(arms)
	}
	if x.Balanced() || x.Balance() < maxUnbalanced || x.Better(1) {
		t.Errorf("balance %g, better %v", x.Balance(), x.Better(1))
	}
	x, src = New(s), newSource(&s, 1, constant(0.1, 0.2))
	for range 300 {
		src.step(arms)
		x.Take(arms)
	}
	if !x.Balanced() || !x.Better(1) {
		t.Errorf("balance %g, better %v", x.Balance(), x.Better(1))
	}
}
