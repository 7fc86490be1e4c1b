package experiment

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

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
			if found := discoveriesAtAnyTime(p, alpha); !done && slices.Contains(found, true) {
				wrong, all := share(found)
				stopped, done = stopped+wrong/all, true
			}
		}
		wrong, all := share(discoveries(e, alpha))
		fixed += wrong / max(1, all)
		power += (all - wrong) / 3
	}
	n := float64(runs)
	t.Logf("false: %g at a fixed look, %g by stopping; found: %g", fixed/n, stopped/n, power/n)
	if most := alpha + 6*math.Sqrt(alpha/n); fixed/n > most || stopped/n > most || power/n < 0.2 {
		t.Errorf("false: %g at a fixed look, %g by stopping, above %g; found: %g", fixed/n, stopped/n, most, power/n)
	}
}

// discoveries returns which of M hypotheses the base e-BH procedure rejects (R. Wang and A. Ramdas, False discovery
// rate control with e-values, arXiv:2009.02824). It rejects the k largest e-values, for the largest k whose k-th
// largest is at least M/(k·α). The expected share of false discoveries is at most α under any dependence, if each
// e-value has a mean of at most 1 when there is no effect. E-values have this mean at a look that is fixed beforehand.
func discoveries(e []float64, alpha float64) []bool {
	all := float64(len(e))
	return largest(e, func(k int, e float64) bool { return float64(e*alpha*float64(k)) >= all })
}

// discoveriesAtAnyTime returns which of M hypotheses the procedure of Y. Benjamini and D. Yekutieli rejects, from
// p-values (Ann. Stat. 29, 2001, theorem 1.3). It rejects the k least p-values, for the largest k whose k-th least is
// at most k·α/(M·(1 + 1/2 + … + 1/M)). The expected share of false discoveries is at most α under any dependence. The
// p-values of Evidence are valid under any stopping rule, for all hypotheses together.
func discoveriesAtAnyTime(p []float64, alpha float64) []bool {
	all, minus := 0.0, make([]float64, len(p))
	for i, x := range p {
		all += 1 / float64(i+1)
		minus[i] = -x
	}
	all = float64(all * float64(len(p)))
	return largest(minus, func(k int, minus float64) bool { return -float64(minus*all) <= float64(alpha*float64(k)) })
}

// largest marks the k largest values, for the largest k for which the k-th largest value is enough.
func largest(values []float64, enough func(k int, value float64) bool) []bool {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
	most := 0
	for i, at := range order {
		if enough(i+1, values[at]) {
			most = i + 1
		}
	}
	found := make([]bool, len(values))
	for _, at := range order[:most] {
		found[at] = true
	}
	return found
}
