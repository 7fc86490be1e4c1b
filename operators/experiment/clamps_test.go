package experiment

import (
	"math"
	"testing"
)

// TestEstimatesAreOfPossibleValues feeds an effect beyond all possible ones. Estimates and ends must stay within the
// possible values, and e-values finite, because decisions are published as numbers.
func TestEstimatesAreOfPossibleValues(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		x := New(halves(0.1, 100))
		for range 400 {
			x.Take([]Arm{{Count: 50, Value: -50 - 200*sign}, {Count: 80, Value: -50 + 200*sign}})
		}
		in := func(what string, e Estimate, low, high float64) {
			t.Helper()
			if !(low <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= high) {
				t.Errorf("%s is %+v, possible are %g to %g", what, e, low, high)
			}
		}
		in("the effect", x.Effect(1), -1, 1)
		in("the mean", x.Mean(1), 0, 1)
		in("the control's mean", x.Mean(0), 0, 1)
		e := x.Evidence(1)
		for what, v := range map[string]float64{"e": e.E, "1/p": 1 / e.P, "balance": x.Balance()} {
			if !(v > 1e12 && v <= math.MaxFloat64) {
				t.Errorf("%s is %g", what, v)
			}
		}
	}
}

// TestSecondMomentsAreOfPossibleValues checks that an estimate of E[(y − c)²] is clamped to what outcomes from 0 to 1
// can have: 0 to max(c, 1 − c)².
func TestSecondMomentsAreOfPossibleValues(t *testing.T) {
	x := New(halves(0.1, 100))
	for _, c := range []float64{0.1, 0.3, 0.5, 0.8} {
		most := math.Max(c*c, (1-c)*(1-c))
		for _, moment := range []float64{-9, -1e-3, 0, 0.05, most, most + 1e-3, 9} {
			want := math.Max(0, math.Min(most, moment))
			if got := x.moment(moment-c*c, c); math.Abs(got-want) > 1e-15 {
				t.Errorf("about %g: %g of an estimate of %g, want %g", c, got, moment, want)
			}
		}
	}
}
