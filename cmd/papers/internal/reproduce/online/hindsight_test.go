package online

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/cmd/papers/internal/baselines"
)

// TestHindsight checks that the best point has a smaller sum of losses than any other point of the set, and that regret
// is the paid sum minus the sum of the best point.
func TestHindsight(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, task := range []Task{Targets(10), Squares} {
		set, draw, err := task.Open(4)
		if err != nil {
			t.Fatal(err)
		}
		h, err := NewHindsight(task.Convexity, set)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, task.Set.Dimension)
		set.Start(x)
		var all []baselines.Loss
		paid := 0.0
		for range 50 {
			f := draw()
			f.Features, f.Target = slices.Clone(f.Features), slices.Clone(f.Target)
			all = append(all, f)
			h.Pay(x, f)
			paid += f.Value(x, task.Convexity)
		}
		whole := func(x []float64) (sum float64) {
			for _, f := range all {
				sum += f.Value(x, task.Convexity)
			}
			return sum
		}
		regret := h.Regret()
		if want := paid - whole(h.best); math.Abs(regret-want) > 1e-9 {
			t.Errorf("%s: regret %g, want %g", task.Name, regret, want)
		}
		for range 2000 {
			other := slices.Clone(h.best)
			size := math.Pow(10, -5*rng.Float64())
			for i := range other {
				other[i] += size * rng.NormFloat64()
			}
			h.projection.Project(other, other)
			if whole(other) < whole(h.best)-1e-9 {
				t.Fatalf("%s: %v is better than hindsight", task.Name, other)
			}
		}
	}
}
