package bandit

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// TestEpisodesStartAnew checks centres with Doubling. The centre of a round is the projection of its episode's start
// minus η times the added contributions of the episode's rounds, and of no others.
func TestEpisodesStartAnew(t *testing.T) {
	for _, delay := range []uint64{0, 3} {
		c := Config{
			Set: set(t, "l2-ball", 2, 1), Losses: setting.Range{High: 1},
			Lipschitz: 3, Rounds: 100, Shrink: true, Projected: true, Doubling: true,
		}
		c.Actions.Records, c.Actions.Actions, c.Actions.Delay = 1, 1, delay
		machine := open(t, c, mechanism(c, "blt", 1), 1, true)
		counted := operators.ByCount(machine)
		projection, err := convex.NewProjection(c.Set)
		if err != nil {
			t.Fatal(err)
		}
		rng, centre, start := rand.New(rand.NewPCG(6, 6)), make([]float64, 2), make([]float64, 2)
		// Indexed by round, from 1.
		losses, directions, contributions := []float64{0}, [][]float64{nil}, [][]float64{nil}
		made := machine.Open(nil)
		for round := 1; round <= 99; round++ {
			first := 1
			for 2*first <= round {
				first *= 2
			}
			plan := c.episode(float64(first))
			if round == first {
				copy(start, centre)
			}
			if last := round - 1 - int(delay); last >= first {
				copy(centre, start)
				for _, contribution := range contributions[first : last+1] {
					floats.AddScaled(centre, -plan.Rate*c.gain(machine.params, plan), contribution)
				}
				projection.Project(centre, centre)
			}
			if got := made[0].Extras[0].Numbers; floats.Distance(got, centre, 2) > 1e-5 {
				t.Fatalf("delay %d, round %d: centre %v, want %v", delay, round, got, centre)
			}
			loss := rng.Float64()
			u := make([]float64, 2)
			losses = append(losses, loss)
			for i, x := range made[0].Point {
				u[i] = (x - plan.Shrink*centre[i]) / plan.Smoothing // the middle is 0
			}
			directions = append(directions, u)
			if added := round - int(delay); added > 0 { // measured from the current baseline
				contribution := make([]float64, 2)
				floats.AddScaled(contribution, 2*(losses[added]-made[0].Extras[1].Number), directions[added])
				contributions = append(contributions, contribution)
			}
			made = counted.Add(made[:0], operators.Record{
				Key: strconv.AppendInt(nil, int64(round), 10), Event: event.Event{Numbers: []float64{loss}},
			})
		}
	}
}

// TestDoublingLosesAConstant checks that the regret of Doubling, which does not know T, is at most three times the
// regret with the constants for the true T, for several T.
func TestDoublingLosesAConstant(t *testing.T) {
	for _, total := range tiertest.Runs([]int{3_000, 12_000}, []int{3_000, 30_000, 100_000}) {
		most := paper(t, 2, 100_000)
		known, doubling := paper(t, 2, float64(total)), most
		doubling.Doubling = true
		for _, exact := range []bool{true, false} {
			least := world{}.answered(t, known, "blt", exact, total, seeds())
			got := world{}.answered(t, doubling, "blt", exact, total, seeds())
			other := world{}.answered(t, most, "blt", exact, total, seeds())
			t.Logf("T = %d, without noise %v: regret a play %.4f known, %.4f doubling, %.2f times; %.4f with constants for 10⁵",
				total, exact, least, got, got/least, other)
			if got > 3*least {
				t.Errorf("T = %d, without noise %v: regret a play %.4f known, %.4f doubling", total, exact, least, got)
			}
		}
	}
}
