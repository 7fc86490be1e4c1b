package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

func TestDiscoveries(t *testing.T) {
	f := func(found, want []bool) {
		t.Helper()
		if !slices.Equal(found, want) {
			t.Errorf("%v, want %v", found, want)
		}
	}
	f(Discoveries([]float64{3, 79, 1, 39}, 0.05), []bool{false, false, false, false})
	f(Discoveries([]float64{3, 80, 1, 39}, 0.05), []bool{false, true, false, false})
	f(Discoveries([]float64{3, 41, 1, 40}, 0.05), []bool{false, true, false, true})
	f(Discoveries([]float64{27, 27, 1, 27}, 0.05), []bool{true, true, false, true})
	f(Discoveries(nil, 0.05), nil)
	third := 0.05 / (3 * (1 + 1.0/2 + 1.0/3)) // threshold of one hypothesis, by Bonferroni with the harmonic sum
	f(DiscoveriesAtAnyTime([]float64{0.9, 1.01 * third, 0.5}, 0.05), []bool{false, false, false})
	f(DiscoveriesAtAnyTime([]float64{0.9, 0.99 * third, 0.5}, 0.05), []bool{false, true, false})
	f(DiscoveriesAtAnyTime([]float64{2.9 * third, 2.9 * third, 2.9 * third}, 0.05), []bool{true, true, true})
}

// TestFalseDiscoveries checks ten dependent metrics of one experiment, seven of them without an effect. The mean share
// of false discoveries must be at most α, for e-values at a fixed look, and for p-values if the experiment stops at the
// first discovery.
func TestFalseDiscoveries(t *testing.T) {
	const metrics, alpha = 10, 0.05
	runs, looks := tiertest.Runs(20, 4000), tiertest.Runs(100, 600)
	s := halves(0.1, 100)
	x := make([]*Experiment, metrics)
	for m := range x {
		x[m] = New(s)
	}
	fresh := append([]float64(nil), x[0].State()...)
	fixed, stopped, power := 0.0, 0.0, 0.0
	share := func(found []bool) (false, all float64) {
		for m, f := range found {
			if f && m >= 3 {
				false++
			}
			if f {
				all++
			}
		}
		return false, all
	}
	arms, e, p := make([]Arm, 2), make([]float64, metrics), make([]float64, metrics)
	for seed := range runs {
		shared := newSource(&s, uint64(seed), constant(0.1)) // shared changes all metrics equally
		rng := rand.New(rand.NewPCG(uint64(seed), 77))
		for m := range x {
			copy(x[m].State(), fresh)
		}
		done := false
		for range looks {
			shared.step(arms)
			for m := range x {
				own := slices.Clone(arms)
				own[1].Value += 3 * rng.NormFloat64()
				if m < 3 {
					own[1].Value += 2 * 0.03 * s.Events / 2
				}
				x[m].Take(own)
				e[m], p[m] = x[m].Evidence(1).E, x[m].Evidence(1).P
			}
			if found := DiscoveriesAtAnyTime(p, alpha); !done && slices.Contains(found, true) {
				wrong, all := share(found)
				stopped, done = stopped+wrong/all, true
			}
		}
		wrong, all := share(Discoveries(e, alpha))
		fixed += wrong / max(1, all)
		power += (all - wrong) / 3
	}
	n := float64(runs)
	t.Logf("false: %g at a fixed look, %g by stopping; found: %g", fixed/n, stopped/n, power/n)
	if most := alpha + 6*math.Sqrt(alpha/n); fixed/n > most || stopped/n > most || power/n < 0.2 {
		t.Errorf("false: %g at a fixed look, %g by stopping, above %g; found: %g", fixed/n, stopped/n, most, power/n)
	}
}
