package linucb

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/optest"
)

// TestRegretOfGaps checks that regret without noise grows like a logarithm of the steps if one arm is better by a gap
// in all contexts. In the mean of 16 seeds, or 6 in the short form, four times as many steps increase the regret to at
// most 1.5 times; a square root would give 2 times. Half the gap gives about twice the regret. The regret of each run
// is at most 16β²·ln(1 + n)/Δ (the argument of PROOF.md, with r ≤ r²/Δ).
func TestRegretOfGaps(t *testing.T) {
	seeds := tiertest.Runs(6, 16)
	regretOf := func(gap float64, steps int, seed uint64) (float64, float64) {
		m := horizon(optest.Window("blt"), 16000)
		m.Budget.Epsilon = 20
		c, m := config(t, m, "PLAYED=logged", "ARMS=a,b", "DIMENSION=1", "EMIT_EVERY=1", "CONFIDENCE=0.9",
			"REWARD_RANGE=-1:1", "WEIGHTS_MAX=1")
		machine, err := newMachine(c, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		machine.model.bounds = c.bound(0)
		machine.model.reset()
		rng, z, sum, widest := rand.New(rand.NewPCG(seed, 14)), make([]float64, 1), 0.0, 0.0
		for i := range steps {
			e := context(1)
			choice := machine.choose(z, operators.Record{Event: e})
			mean := gap/2 - gap*float64(choice)
			sum += gap * float64(choice)
			reward := -1.0
			if rng.Float64() < (1+mean)/2 {
				reward = 1
			}
			e.Numbers = []float64{float64(choice), reward}
			counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
			width, _ := machine.model.widest()
			widest = max(widest, width)
		}
		// Two blocks with one feature and λ = 1 each satisfy Σ min(1, |z|²) ≤ 2·ln(1 + n).
		return sum, 4 * widest * widest * 2 * 2 * math.Log(1+float64(steps)) / gap
	}
	regret := func(gap float64, steps int) (mean, bound float64) {
		for seed := range uint64(seeds) {
			r, most := regretOf(gap, steps, seed)
			if r > most {
				t.Errorf("gap %g, %d steps: regret %g is above its bound, %g", gap, steps, r, most)
			}
			mean, bound = mean+r/float64(seeds), most
		}
		return mean, bound
	}
	large, bound := regret(0.8, 4000)
	longer, longBound := regret(0.8, 16000)
	narrow, narrowBound := regret(0.4, 16000)
	t.Logf("gap 0.8: regret %.1f of 4000 steps, bound %.0f; %.1f of 16000, bound %.0f; gap 0.4: %.1f, bound %.0f", large,
		bound, longer, longBound, narrow, narrowBound)
	if longer > 1.5*large || narrow < 1.4*longer || narrow > 2.8*longer {
		t.Errorf("regret %g of 4000 steps, %g of 16000, and %g at half the gap", large, longer, narrow)
	}
}

// TestGapsAreWithinTheirBound checks that the bound for gaps equals the bound without gaps at the least gap that it
// covers, and is q/Δ without rounding. With noise at ε = 100, two arms with a gap of 0.8 in all contexts have less
// regret than the bound. The bound is below the largest possible regret.
func TestGapsAreWithinTheirBound(t *testing.T) {
	const steps, gap = 20_000, 0.8
	m := horizon(optest.Window("blt"), steps)
	m.Budget.Epsilon = 100
	c, m := config(t, m, "PLAYED=logged", "ARMS=a,b", "DIMENSION=1", "EMIT_EVERY=1", "CONFIDENCE=0.9", "REWARD_RANGE=-1:1",
		"WEIGHTS_MAX=1")
	private, err := newMachine(c, mechtest.Open(t, m, [32]byte{5}))
	if err != nil {
		t.Fatal(err)
	}
	countedPrivate := operators.ByCount(private)
	deviation, err := private.Stream.Deviation(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	sd := deviation.Worst()
	least, times := c.gapBound(sd)
	if whole := c.regretBound(sd); math.Abs(times/least/whole-1) > 1e-9 || least*steps < whole*(1-1e-9) {
		t.Errorf("at a gap of %g within %g, and %g without one", least, times/least, whole)
	}
	squares, rounding := c.losses(sd)
	if most := squares * math.Pow(1+rounding/math.Sqrt(squares/steps), 2); math.Abs(times/most-1) > 1e-9 {
		t.Errorf("within %g over the gap, want %g", times, most)
	}
	rng, z, lost := rand.New(rand.NewPCG(3, 14)), make([]float64, 1), 0.0
	for i := range steps {
		e := context(1)
		choice := private.choose(z, operators.Record{Event: e})
		lost += gap * float64(choice)
		reward := -1.0
		if rng.Float64() < (1+gap/2-gap*float64(choice))/2 {
			reward = 1
		}
		e.Numbers = []float64{float64(choice), reward}
		countedPrivate.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
	}
	t.Logf("regret %.0f within %.0f, for gaps of at least %.3g", lost, times/gap, least)
	if lost > times/gap || times/gap > gap*steps || gap < least {
		t.Errorf("regret %g, bound %g, of %g that there are; gaps of at least %g", lost, times/gap, gap*steps, least)
	}
}
