package coco

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/optest"
)

// TestConformance runs the suite with noise, over updates, sets, batches and the two meanings of µ.
func TestConformance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, update := range []string{Projection, LLO, OGD} {
		for _, set := range []string{"l2-ball", "l1-ball", "simplex", "box"} {
			if update == LLO && set == "l2-ball" {
				continue
			}
			for _, batch := range []uint64{1, 3} {
				c := sample(t, set, 3)
				c.Update, c.OwnConvexity, c.StartRegularizer = update, batch == 3, float64(batch-1)
				c.EmitEvery = 1 + batch/2
				lossName := map[string]string{"l2-ball": "logistic", "l1-ball": "squared", "simplex": "portfolio", "box": "linear"}[set]
				c.Loss = mustLoss(t, lossName)
				events := make([]operators.Event, 30)
				for i := range events {
					v := operators.Vector{Values: []float64{0.5 + rng.Float64(), 0.5 + rng.Float64(), 0.5 + rng.Float64()}}
					if i%4 == 3 {
						v = operators.Vector{Indices: []int32{0, 2}, Values: v.Values[:2]}
					}
					events[i] = operators.Event{Vector: v, Label: float64(1 - i%2*2), Weight: rng.Float64()}
				}
				m := mechanism(c, 4, batch)
				plan := mechtest.Plan(t, m) // made once, as at an opening
				t.Run(fmt.Sprintf("%s/%s/B=%d", update, set, batch), func(t *testing.T) {
					optest.Run(t, func(tb testing.TB) operators.Machine {
						return openPlan(tb, c, m, plan, 7)
					}, events)
				})
			}
		}
	}
}
