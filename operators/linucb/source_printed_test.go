package linucb

import (
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/operators/optest"
)

// TestExactNoiseRegretsLess checks that exact noise has less regret than printed noise, and printed Gaussian noise less
// than Wishart noise, if the stream is long enough to show it. The test needs two arms, three features, 20 000 steps, ε
// = 20 and the mean over four keys.
func TestExactNoiseRegretsLess(t *testing.T) {
	const steps, keys = 20000, 4
	m := horizon(optest.Window("tree-gaussian"), steps)
	m.Budget.Epsilon = 20
	regret := func(m mechanisms.Config) (mean float64) {
		c, m := config(t, m, "PLAYED=logged", "ARMS=a,b", "DIMENSION=3", "EMIT_EVERY=16", "REWARD_RANGE=-1:1", "WIDTH=0")
		for key := range byte(keys) {
			machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{key, 21}))
			if err != nil {
				t.Fatal(err)
			}
			world := linear{truth: [2][]float64{{0.6, 0, 0.3}, {-0.3, 0.5, 0}}, rng: rand.New(rand.NewPCG(uint64(key), 4))}
			mean += world.play(machine, steps) / keys
		}
		return mean
	}
	tight, symmetric, degrees := regret(m), regret(asPrinted(m, gaussian, 3)), regret(asPrinted(m, wishart, 3))
	t.Logf("exact %.0f, printed Gaussian %.0f, Wishart %.0f", tight, symmetric, degrees)
	if symmetric < 2*tight || degrees < 1.1*symmetric {
		t.Errorf("regret %g with exact noise, %g with printed Gaussian, %g with Wishart noise", tight, symmetric, degrees)
	}
}
