package protection

import (
	"math"
	"testing"

	"oriel/mechanisms/dp"
)

// TestUserActiveInManyPeriods checks the losses that a report prints for a user who is active in n periods: nε of a
// pure guarantee, and √n·µ of a Gaussian one. One event is 2/k of the unit.
func TestUserActiveInManyPeriods(t *testing.T) {
	const delta = 1e-6
	terms := Terms{PerStep{}, UserPeriod{PeriodSteps: 24, Events: 8}}
	mu := dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: delta})
	gaussian := Guarantee{Terms: terms, Epsilon: 1, Delta: delta, Mu: mu}
	pure := Guarantee{Terms: terms, Epsilon: 0.125}
	for _, n := range []uint64{0, 1, 2, 7, 30, 365, 1 << 62} {
		got, want := pure.AtPeriods(n), dp.Budget{Epsilon: 0.125 * float64(n)}
		if got != want {
			t.Errorf("pure, %d periods: %v, want %v", n, got, want)
		}
		got = gaussian.AtPeriods(n)
		of := func(error float64) float64 { return dp.GaussianEpsilon(mu*math.Sqrt(float64(n))*error, delta) }
		if got.Epsilon < of(1-1e-15) || got.Epsilon > of(1+1e-15) || n > 0 && got.Delta != delta {
			t.Errorf("Gaussian, %d periods: %v, want %g", n, got, of(1))
		}
	}
	if got := gaussian.AtAll(7 * 24); got != gaussian.AtPeriods(8) {
		t.Errorf("a week of days, from any hour on: %v, want eight days, %v", got, gaussian.AtPeriods(8))
	}
	if got := gaussian.AtAll(6*24 + 1); got != gaussian.AtPeriods(7) {
		t.Errorf("six days and an hour: %v, want seven days, %v", got, gaussian.AtPeriods(7))
	}
	if got := pure.AtAll(math.MaxUint64).Epsilon; got < 0.125*0x1p64/24 || got > 0.125*0x1p64/24*(1+1e-15) {
		t.Errorf("a user who comes for ever: %g", got)
	}
	if got := pure.AtOneEvent(); got != (dp.Budget{Epsilon: 0.03125}) {
		t.Errorf("one of eight events: %v", got)
	}
	if got, want := gaussian.AtOneEvent().Epsilon, dp.GaussianEpsilon(mu/4, delta); got != want {
		t.Errorf("one of eight events, Gaussian: %g, want %g", got, want)
	}
	pure.Unit, gaussian.Unit = UserPeriod{PeriodSteps: 24, Events: 1}, UserPeriod{PeriodSteps: 24, Events: 3}
	if got := pure.AtOneEvent(); got != (dp.Budget{Epsilon: 0.25}) {
		t.Errorf("the only event, and the next one: %v", got)
	}
	third := mu / 1.5 // rounded to nearest, so the claim may be one unit in the last place above it
	if got := gaussian.AtOneEvent().Epsilon; got < dp.GaussianEpsilon(third*(1-1e-15), delta) ||
		got > dp.GaussianEpsilon(math.Nextafter(third, 1), delta) {
		t.Errorf("one of three events, Gaussian: %g", got)
	}
}

// TestOneEventOfValues checks the loss of one event of a user with m values: two contributions that are apart.
func TestOneEventOfValues(t *testing.T) {
	const delta, mu = 1e-6, 0.25
	for m, share := range map[uint64]float64{1: 2, 2: 1, 8: 0.25, 3: 2. / 3} {
		terms := Terms{PerStep{}, UserPeriod{PeriodSteps: 24, Values: m}}
		pure := Guarantee{Terms: terms, Epsilon: 0.125}
		if got := pure.AtOneEvent().Epsilon; math.Abs(got-0.125*share) > 1e-16 || got < 0.125*share {
			t.Errorf("pure, m = %d: %g, want %g", m, got, 0.125*share)
		}
		gaussian := Guarantee{Terms: terms, Epsilon: 1, Delta: delta, Mu: mu}
		at := func(error float64) float64 { return dp.GaussianEpsilon(mu*math.Sqrt(share)*(1+error), delta) }
		if got := gaussian.AtOneEvent().Epsilon; got < at(-1e-15) || got > at(1e-15) {
			t.Errorf("Gaussian, m = %d: %g, want %g", m, got, at(0))
		}
	}
}

// TestOnlyUserPeriodsHavePeriods checks that asking a unit without periods for the loss of a number of them is a bug.
func TestOnlyUserPeriodsHavePeriods(t *testing.T) {
	g := Guarantee{Terms: Terms{PerStep{}, Event{dp.AddRemove}}, Epsilon: 1}
	for what, loss := range map[string]func(){
		"AtPeriods": func() { g.AtPeriods(1) }, "AtOneEvent": func() { g.AtOneEvent() }, "AtAll": func() { g.AtAll(1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of an event: no panic", what)
				}
			}()
			loss()
		}()
	}
}
