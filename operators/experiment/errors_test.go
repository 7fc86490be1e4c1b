package experiment

import (
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// setting is what runs of an experiment are simulated under.
type setting struct {
	name  string
	s     Settings
	rates func(arm int, event float64) float64
	looks int
	tails bool
}

func settingsOfErrors() []setting {
	looks := tiertest.Runs(300, 1000)
	var all []setting
	for _, p := range []float64{0.02, 0.1, 0.5} {
		for _, events := range tiertest.Runs([]float64{100}, []float64{10, 100, 1000}) {
			name := fmt.Sprintf("p = %g, %g events a step", p, events)
			all = append(all, setting{name, halves(p, events), constant(p), looks, false})
		}
	}
	all = append(all, setting{"m wrong by a fifth", halves(0.12, 100), constant(0.1), looks, false},
		setting{"m wrong by a half", halves(0.03, 100), constant(0.02), looks, false})
	unequal := halves(0.1, 100)
	unequal.Propensities = []float64{0.9, 0.1}
	all = append(all, setting{"a tenth in the treatment", unequal, constant(0.1), looks, false})
	many := halves(0.1, 100)
	many.Propensities = []float64{0.2, 0.2, 0.2, 0.2, 0.2}
	all = append(all, setting{"five arms", many, constant(0.1), looks, false})
	heavy := halves(0.05, 100)
	heavy.Square = draw
	all = append(all, setting{"exponential outcomes, with squares", heavy, constant(0), looks, true})
	life := halves(0.1, 100)
	life.Noise, life.Start = *memory1024(), 700
	life.Noise.Period = 1024
	return append(all, setting{"for life, over a reset", life, constant(0.1), looks, false})
}

// tolerated is how many of so many runs may err that do so with a probability of 0.05 at most: 3 standard errors in the
// long form; in the short form, which has few, a false alarm has a probability below 1e-9 (Chernoff).
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

// Sequences of effects of zero hold zero at all looks together, and no arm is found better, but in 5 % of runs.
func TestErrorsAtAnyLook(t *testing.T) {
	runs := tiertest.Runs(40, 10000)
	for _, c := range settingsOfErrors() {
		x := New(c.s)
		fresh := append([]float64(nil), x.State()...)
		outside, better := 0, 0
		arms := make([]Arm, len(c.s.Propensities))
		for seed := range runs {
			copy(x.State(), fresh)
			src, missed := newSource(&c.s, uint64(seed), c.rates), false
			src.tails = c.tails
			for range c.looks {
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

// drifting effects: the sequence holds the weighted average of the effects so far, whose weights are those of a bank
// that is given the truth.
func TestSequencesFollowADriftingEffect(t *testing.T) {
	runs, looks := tiertest.Runs(40, 10000), tiertest.Runs(300, 1000)
	s := halves(0.2, 100)
	effect := func(event float64) float64 { return 0.03 * math.Sin(event/3000) }
	outside := 0
	for seed := range runs {
		x := New(s)
		src := newSource(&s, uint64(seed), func(arm int, event float64) float64 { return 0.2 + float64(arm)*effect(event) })
		room := make([]float64, bankLen(len(x.bank.ratios), len(s.Noise.Poles), 1))
		truth := newBank(&s.Noise, x.bank.ratios, 1, s.Events, 0, room)
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
			for i := range x.bank.ratios { // the filter of the look has its information
				if x.bank.informationOf(i) == f.information && truth.sum(i, 0)/truth.informationOf(i)-f.estimate() != 0 {
					missed = missed || math.Abs(truth.sum(i, 0)/truth.informationOf(i)-f.estimate()) > f.halfWidth(0.05)
				}
			}
		}
		if missed {
			outside++
		}
	}
	if most := tolerated(runs); outside > most {
		t.Errorf("%d of %d runs miss the truth: above %d", outside, runs, most)
	}
}

// e-values without an effect have a mean of at most 1 at fixed looks, and where one stops at the first e ≥ 5.
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
		if error := math.Sqrt(max(squares[i]/n-mean*mean, 0) / n); mean > 1+tiertest.Runs(6.0, 3)*error {
			t.Errorf("at %d: mean %g ± %g", i, mean, error)
		}
	}
}

// An arm that is worse is not found better, whatever its e-value; one that is better is, about when it is planned.
func TestVerdicts(t *testing.T) {
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

// Arms that are not drawn as the settings say are found, and bar verdicts.
func TestArmsThatAreNotDrawnAsSaid(t *testing.T) {
	s := halves(0.1, 100)
	x, arms := New(s), make([]Arm, 2)
	drawn := s
	drawn.Propensities = []float64{0.46, 0.54}
	src := newSource(&drawn, 1, constant(0.1, 0.2))
	for range 300 {
		src.step(arms)
		x.Take(arms)
	}
	if x.Balanced() || x.Balance() < mostUnbalanced || x.Better(1) {
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
