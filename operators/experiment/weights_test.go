package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// leastWeight returns the least weight ω that an estimate gives to the effect τ at a look, over all looks and ratios,
// and the largest difference between 1 and a sum of weights. It computes the weights from the increments.
func leastWeight(noise *Noise, ratios []float64, start uint64, looks int) (least, away float64) {
	from := noise.origin(start, 0)
	b := newBank(noise, ratios, looks, 100, &from, make([]float64, bankLen(len(ratios), len(noise.Poles), looks)))
	impulses := make([]float64, looks)
	least = math.Inf(1)
	for l := range looks {
		clear(impulses)
		impulses[l] = 100
		b.step(impulses)
		if step := start + uint64(l) + 1; noise.Period > 0 && step%noise.Period == 0 {
			b.reset()
		}
		for i := range ratios {
			sum := 0.0
			for j := range looks {
				weight := b.sum(i, j) / b.informationOf(i)
				if j <= l {
					least = min(least, weight)
				}
				sum += weight
			}
			away = max(away, math.Abs(sum-1))
		}
	}
	return least, away
}

// TestWeightsAreAnAverage checks that the weights ω of the effects τ are not negative and sum to 1, because e⁺ and the
// bound on rounding require this. It must hold for shipped filters over the grid, and for every law that Validate
// accepts. A law that Validate refuses must have negative weights here.
func TestWeightsAreAnAverage(t *testing.T) {
	const looks = 48
	want := func(name string, noise *Noise, ratios []float64, start uint64) {
		t.Helper()
		least, away := leastWeight(noise, ratios, start, looks)
		if least < -1e-12 || away > 1e-12 {
			t.Errorf("%s %+v from %d: least weight %g, sum 1 ± %g", name, noise, start, least, away)
		}
	}
	for name, noise := range map[string]*Noise{
		"horizon 1000": horizon1000(), "horizon 100": horizon100(), "memory 1024": memory1024(),
	} {
		s := halves(0.1, 100)
		s.Noise = *noise
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, start := range []uint64{0, 1, 5000} {
			if start == 0 || noise.Period != 0 {
				want(name, noise, s.grid(), start)
			}
		}
	}
	rng, taken := rand.New(rand.NewPCG(8, 8)), 0
	for range tiertest.Runs(200, 20000) {
		noise := &Noise{Period: 16}
		for range 1 + rng.IntN(4) {
			noise.Poles = append(noise.Poles, 1-math.Exp(-8*rng.Float64()))
			noise.Residues = append(noise.Residues, (0.15-rng.Float64())*(1-noise.Poles[len(noise.Poles)-1]))
		}
		if noise.average() == nil {
			taken++
			want("drawn", noise, []float64{1e-4, 0.1}, uint64(rng.IntN(20)))
		}
	}
	if taken < tiertest.Runs(20, 2000) {
		t.Errorf("%d laws taken", taken)
	}
	for name, noise := range map[string]*Noise{
		"rises after a draw": {Poles: []float64{0.9}, Residues: []float64{1}},
		"rises, then falls":  {Poles: []float64{0.95, 0.2}, Residues: []float64{-0.02, 0.9}},
	} {
		if least, _ := leastWeight(noise, []float64{1e-4}, 0, looks); least >= 0 || noise.average() == nil {
			t.Errorf("%s: least weight %g, refused: %v", name, least, noise.average())
		}
	}
	for name, noise := range map[string]*Noise{ // laws with a negative weight, which Validate must refuse
		"falls by more than 1":       {Poles: []float64{0.6}, Residues: []float64{-0.5}},
		"falls more at a later step": {Poles: []float64{0.9, 0.6}, Residues: []float64{-0.05, 0.04}},
	} {
		if noise.average() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
