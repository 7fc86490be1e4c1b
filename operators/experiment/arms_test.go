package experiment

import (
	"math"
	"testing"
)

// TestTreatmentsHaveNoOrder exchanges two treatments of unlike probabilities, rates and noise, and checks that all
// findings are exchanged with them.
func TestTreatmentsHaveNoOrder(t *testing.T) {
	s := halves(0.1, 100)
	s.Lift, s.Square, s.Rounding = true, draw, 1e-3
	s.Propensities = []float64{0.2, 0.3, 0.5}
	other := s
	other.Propensities = []float64{0.2, 0.5, 0.3}
	x, y, arms := New(s), New(other), make([]Arm, 3)
	src := newSource(&s, 4, constant(0.1, 0.12, 0.2))
	for range 120 {
		src.step(arms)
		x.Take(arms)
		y.Take([]Arm{arms[0], arms[2], arms[1]})
		for arm := 1; arm < 3; arm++ {
			swapped := 3 - arm
			numbers := func(x *Experiment, arm int) []float64 {
				effect, mean, ratio, e := x.Effect(arm), x.Mean(arm), x.Ratio(arm), x.Evidence(arm)
				return []float64{
					effect.Value, effect.Low, effect.High, mean.Value, mean.Low, mean.High, ratio.Value, ratio.Low,
					min(ratio.High, 100), e.E, e.P, x.Balance(),
				}
			}
			got := numbers(y, swapped)
			for i, want := range numbers(x, arm) {
				if math.Abs(got[i]-want) > 1e-9*math.Max(1, math.Abs(want)) {
					t.Fatalf("look %d, treatment %d: number %d is %g where treatments are exchanged, %g otherwise", x.Looks(), arm, i,
						got[i], want)
				}
			}
			if x.Better(arm) != y.Better(swapped) {
				t.Fatalf("look %d: treatment %d is better %v, exchanged %v", x.Looks(), arm, x.Better(arm), y.Better(swapped))
			}
		}
	}
	if !x.Better(2) || x.Evidence(2).P >= x.Evidence(1).P {
		t.Errorf("no treatment stands out: %+v, %+v", x.Evidence(1), x.Evidence(2))
	}
}
