package numbers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSeparateRunsHaveTheNoiseOfTheirSteps compares the variance over several runs of consecutive steps, with gaps
// between them, with the sum of the covariances of all pairs of steps.
func TestSeparateRunsHaveTheNoiseOfTheirSteps(t *testing.T) {
	table := windows{1, 1.25, 1.5, 1.7, 1.85, 1.95}
	covariance := func(apart uint64) float64 {
		if apart == 0 {
			return table.variance(1)
		}
		return (table.variance(apart+1)+table.variance(apart-1))/2 - table.variance(apart)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var steps []uint64
		var spans []span
		for step := range uint64(32) {
			if random.IntN(3) > 0 {
				steps, spans = append(steps, step), append(spans, span{step, step + 1})
			}
		}
		want := 0.0
		for _, a := range steps {
			for _, b := range steps {
				want += covariance(max(a, b) - min(a, b))
			}
		}
		if got := table.of(join(spans)); math.Abs(got-want) > 1e-9*want {
			t.Fatalf("steps %v: a variance of %g, want %g", steps, got, want)
		}
	}
}
