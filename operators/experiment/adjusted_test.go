package experiment

import (
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// adjustable draws an outcome y, and a covariate x that is known of a unit before it is assigned to an arm. x has mean
// ½ and standard deviation 0.15, and the mean of y rises by slope for each unit of x.
type adjustable struct {
	name   string
	slope  float64
	square float64                                     // Settings.Square; 0 for outcomes of 0 and 1
	draw   func(rng *rand.Rand, shift float64) float64 // draws y, whose mean changes by shift = slope·(x − ½)

	least, most float64 // limits on the ratio of widths, adjusted to plain, after 100 000 events
}

func adjustables() []adjustable {
	unit := func(x float64) float64 { return max(0, min(1, x)) }
	number := func(spread float64) func(*rand.Rand, float64) float64 {
		return func(rng *rand.Rand, shift float64) float64 { return unit(0.4 + shift + spread*rng.NormFloat64()) }
	}
	converts := func(p float64) func(*rand.Rand, float64) float64 {
		return func(rng *rand.Rand, shift float64) float64 {
			if rng.Float64() < p+shift {
				return 1
			}
			return 0
		}
	}
	return []adjustable{
		{"number, R² = 0.5", 0.7, draw, number(0.105), 0.82, 0.88},
		{"number, R² = 0.2", 0.5, draw, number(0.15), 0.91, 0.97},
		{"conversion of 0.1, R² = 0.05", 0.45, 0, converts(0.1), 0.97, 1.03},
		{"conversion of 0.5, R² = 0.2", 1.5, 0, converts(0.5), 0.88, 0.94},
	}
}

// widthsOf returns the half widths of an effect after the given number of events: for plain outcomes, and for adjusted
// outcomes y − slope·(x − ½). errors is the share of runs without an effect in which the sequence of adjusted outcomes
// excludes 0.
func (a adjustable) widthsOf(events int, runs int) (plain, adjusted, errors float64) {
	span := 1 + a.slope
	width := func(s Settings, span float64, outcome func(*rand.Rand) float64) (mean, errors float64) {
		x, arms := New(s), make([]Arm, 2)
		fresh := append([]float64(nil), x.State()...)
		for seed := range runs {
			copy(x.State(), fresh)
			src, missed := newSource(&s, uint64(seed), constant(0)), false
			src.outcomes = func(rng *rand.Rand, _ int) float64 { return outcome(rng) }
			for range events / int(s.Events) {
				src.step(arms)
				x.Take(arms)
				e := x.Effect(1)
				missed = missed || e.Low > 0 || e.High < 0
			}
			mean += span * x.effect(1).halfWidth(s.Alpha) / float64(runs)
			if missed {
				errors++
			}
		}
		return mean, errors
	}
	with := func(near, square float64) Settings {
		s := halves(near, 100)
		if s.Square = square; square > 0 { // ‖(1, x̃, x̃² − ½)‖² ≤ 9/4, while it is at most 2 without squares
			s.Count, s.Value, s.Square = 1.061*draw, 1.061*draw, 1.061*draw
		}
		return s
	}
	known := func(rng *rand.Rand) float64 { return max(0, min(1, 0.5+0.15*rng.NormFloat64())) - 0.5 }
	near := map[bool]float64{true: 0.4, false: 0.1}[a.square > 0]
	plain, _ = width(with(near, a.square), 1, func(rng *rand.Rand) float64 { return a.draw(rng, a.slope*known(rng)) })
	adjusted, errors = width(with((near+a.slope/2)/span, draw), span, func(rng *rand.Rand) float64 {
		shift := a.slope * known(rng)
		return (a.draw(rng, shift) - shift + a.slope/2) / span
	})
	return plain, adjusted, errors
}

// TestAdjustedOutcomes checks outcomes that are adjusted before they are sent, by a public slope and a covariate known
// before the unit was drawn. Their confidence sequences must stay valid. At 100 000 events the sequences are narrower
// than those of plain outcomes if the covariate predicts well. If it predicts badly they are not, because the wider
// range needs more noise, and squares are released, too.
func TestAdjustedOutcomes(t *testing.T) {
	runs := tiertest.Runs(1, 500)
	for i, a := range adjustables() {
		if i%2 == 1 && runs == 1 {
			continue
		}
		plain, adjusted, errors := a.widthsOf(100_000, runs)
		t.Logf("%s: %.3f times as wide, %g errors of %d", a.name, adjusted/plain, errors, runs)
		if most := float64(tolerated(runs)); errors > most {
			t.Errorf("%s: %g of %d miss the truth: above %g", a.name, errors, runs, most)
		}
		if ratio := adjusted / plain; ratio < a.least || ratio > a.most {
			t.Errorf("%s: %g times as wide, want %g to %g", a.name, ratio, a.least, a.most)
		}
		if runs > 1 {
			plain, adjusted, _ = a.widthsOf(10_000, 200)
			t.Logf("%s: %.3f times as wide after 10 000 events", a.name, adjusted/plain)
		}
	}
}
