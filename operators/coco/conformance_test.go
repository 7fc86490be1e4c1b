package coco

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/operators/convex/catalogue"
	"oriel/operators/loss"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// TestConformance runs the suite over updates, sets and losses, each with batches of 1 and 3 and with and without
// OwnConvexity.
func TestConformance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	row := 0
	for _, update := range []string{Projection, LLO, OGD} {
		for _, set := range catalogue.Names() {
			by := slices.Contains(byOracle, set)
			if update == LLO && set == "l2-ball" || update != LLO && by {
				continue
			}
			row++ // the short form takes every third loss, and others with the next set
			for i, lossName := range loss.Names() {
				if tiertest.Runs((i+row)%3 != 0, false) {
					continue
				}
				batch := uint64(1 + i%2*2)
				c := sample(t, set, 4)
				c.Update, c.OwnConvexity, c.StartRegularizer = update, batch == 3, float64(batch-1)
				c.EmitEvery, c.Loss = 1+batch/2, mustLoss(t, lossName)
				if i%3 == 2 || slices.Contains(searched, set) {
					c.Constants = Search
					if update == LLO && batch == 3 {
						c.First = Vertex
					}
				}
				events := make([]event.Event, 30)
				for i := range events {
					v := event.Vector{Values: make([]float64, 4)}
					for j := range v.Values {
						v.Values[j] = 0.5 + rng.Float64()
					}
					if i%4 == 3 {
						v = event.Vector{Indices: []int32{0, 2}, Values: v.Values[:2]}
					}
					events[i] = event.Event{Vector: v, Label: float64(1 - i%2*2), Weight: rng.Float64()}
				}
				m := mechanism(c, 4, batch)
				t.Run(fmt.Sprintf("%s/%s/%s/B=%d", update, set, lossName, batch), func(t *testing.T) {
					optest.Run(t, func(tb testing.TB, open optest.Open) operators.Machine {
						return newMachine(tb, c, m, open(m))
					}, events)
				})
			}
		}
	}
}
