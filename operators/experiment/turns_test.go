package experiment

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
)

// shift returns how much the draws so far will add to the noise of the contrast, summed over the given number of steps
// that begin `ahead` steps later.
func (x *source) shift(ahead, steps float64) (sum float64) {
	for k, q := range x.s.Noise.Poles {
		past := 0.0
		for arm, sign := range []float64{-1, 1} {
			count, value := x.past[3*arm][k]*x.s.Count, x.past[3*arm+1][k]*x.s.Value
			past += sign * (value/2 + (0.5-x.s.Near)*count) / x.s.Propensities[arm]
		}
		sum += x.s.Noise.Residues[k] * math.Pow(q, ahead) * (1 - math.Pow(q, steps)) / (1 - q) * past
	}
	return sum
}

// adversary makes 1000 steps. It then returns to the one of the last 700 steps after which the draws so far would shift
// an experiment most that begins `ahead` steps later. The source continues from that step with fresh draws.
func (x *source) adversary(ahead, steps int) {
	most, at, chosen := -1.0, uint64(0), [][]float64{}
	for i := range 1000 {
		x.noises()
		if s := math.Abs(x.shift(float64(ahead), float64(steps))); i >= 300 && s > most {
			most, at, chosen = s, x.steps, nil
			for _, past := range x.past {
				chosen = append(chosen, slices.Clone(past))
			}
		}
	}
	x.steps, x.past = at, chosen
	for range ahead {
		x.noises()
	}
}

// TestAStartChosenByTheNoise checks the error rate of an experiment that is appended to a running stream. Its
// first step is chosen by an adversary who knows all draws of noise so far, operators.Announced events before it. With
// steps of 10 000 events it must be 20 steps before.
func TestAStartChosenByTheNoise(t *testing.T) {
	chosen := []struct{ rate, batch, draws float64 }{{0.1, 100, 1}, {0.5, 100, 1}, {0.02, 100, 1}, {0.02, 1e4, 100}}
	runs, looks := tiertest.Runs(30, 2000), tiertest.Runs(100, 1000)
	for _, c := range tiertest.Runs(chosen[:1], chosen) {
		for _, steps := range tiertest.Runs([]int{30}, []int{30, 300}) {
			s := halves(c.rate, c.batch)
			s.Noise = *memory1024()
			s.Count, s.Value = s.Count*c.draws, s.Value*c.draws
			x, arms := New(s), make([]Arm, 2)
			outside, better := 0, 0
			for seed := range runs {
				src, missed := newSource(&s, uint64(seed), constant(c.rate)), false
				src.adversary(int(operators.Announced(uint64(c.batch))/uint64(c.batch)), steps)
				x.Restart(src.steps)
				for range looks {
					src.step(arms)
					x.Take(arms)
					e := x.Effect(1)
					missed = missed || e.Low > 0 || e.High < 0
				}
				if missed {
					outside++
				}
				if x.Better(1) {
					better++
				}
			}
			t.Logf("%+v, over %d steps: %d and %d of %d", c, steps, outside, better, runs)
			if most := tolerated(runs); max(outside, better) > most {
				t.Errorf("%+v, over %d steps: %d left 0 out, %d found an arm better, of %d: above %d", c, steps, outside, better, runs, most)
			}
		}
	}
}

// TestRestartIsANewExperiment checks that a restarted experiment equals a new one bit for bit, at any age of a block,
// and so does an experiment whose numbers were stored and resumed.
func TestRestartIsANewExperiment(t *testing.T) {
	for _, period := range []uint64{0, 40, 1 << 20} {
		s := halves(0.1, 100)
		s.Noise, s.Lift = *memory1024(), true
		s.Noise.Period = period
		used, arms := New(s), make([]Arm, 2)
		src := newSource(&s, 7, constant(0.1))
		for range 50 {
			src.step(arms)
			used.Take(arms)
		}
		for _, start := range []uint64{50, 80, 95} {
			used.Restart(start)
			s.Start = start
			fresh, stored := New(s), New(s)
			for i := range 60 {
				if i == 25 {
					stored.Restart(3)
					copy(stored.State(), fresh.State())
					stored.Resume(start)
				}
				src.step(arms)
				for _, x := range []*Experiment{used, fresh, stored} {
					x.Take(arms)
				}
				for _, x := range []*Experiment{used, stored} {
					if !slices.Equal(x.State(), fresh.State()) || x.Effect(1) != fresh.Effect(1) || x.Check(start+uint64(i)+1) != nil {
						t.Fatalf("period %d, start %d, look %d: %v, want %v", period, start, i, x.Effect(1), fresh.Effect(1))
					}
				}
			}
		}
	}
}
