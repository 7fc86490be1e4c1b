package arms

import (
	"math"
	"testing"
)

// TestEstimatesOfExp3 compares rate and estimates with SPEC.md §3: the mean loss of a round, clipped to ½ and 6
// deviations of its noise on both sides, from the mean of earlier rounds, over p + η/2.
func TestEstimatesOfExp3(t *testing.T) {
	const k, answers, variance = 3, 4, 9.0
	w := newExp3(k, answers, deviation{variance: variance})
	var losses [k]float64
	middle, most := 0.0, 0.5+6*math.Sqrt(variance)/answers
	for round, sum := range []float64{1, -2, 0.5, 90, -90, 19.9, -19.9, 20.1, -20.1, 3} {
		eta := math.Sqrt(2 * math.Log(k) / (k * (0.25 + variance/(answers*answers)) * (float64(round) + 4*k)))
		if got := w.rate(); math.Abs(got/eta-1) > 1e-12 {
			t.Fatalf("round %d: η = %g, want %g", round, got, eta)
		}
		mean, p := math.Max(-most, math.Min(most, sum/answers)), 0.2+0.05*float64(round)
		losses[round%k] += (mean - middle) / (p + eta/2)
		middle += (mean - middle) / float64(round+1)
		w.learn(round%k, p, answers, sum)
		for arm, want := range losses {
			if math.Abs(w.losses[arm]-want) > 1e-12*math.Max(1, math.Abs(want)) {
				t.Fatalf("round %d: arm %d has lost %g, want %g", round, arm, w.losses[arm], want)
			}
		}
	}
}
