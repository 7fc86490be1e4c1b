package experiment

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// form returns the weight of each column in the contrast of the treatment.
func (x *source) form() []float64 {
	h := make([]float64, len(x.past))
	for arm, sign := range []float64{-1, 1} {
		h[3*arm] = sign * (0.5 - x.s.Near) * x.s.Count / x.s.Propensities[arm]
		h[3*arm+1] = sign / 2 * x.s.Value / x.s.Propensities[arm]
	}
	return h
}

// gains returns what each c_k now adds to the sum of the given number of steps that begin `ahead` steps later.
func (x *source) gains(ahead, steps int) []float64 {
	g := make([]float64, len(x.s.Noise.Poles))
	for k, q := range x.s.Noise.Poles {
		g[k] = x.s.Noise.Residues[k] * math.Pow(q, float64(ahead)) * (1 - math.Pow(q, float64(steps))) / (1 - q)
	}
	return g
}

// worst gives the source, after `history` steps, the largest known part for which an experiment pays in full: c'Σ⁻¹c is
// 2 ln C. Its direction is the one that shifts the sum of the given number of steps most. The source then makes
// `ahead` steps with fresh draws.
func (x *source) worst(history uint64, ahead, steps int, up bool) {
	s := *x.s
	s.Start, s.Announced = history+1, history
	left := s.Noise.past(history)
	sigma, g, h := s.Noise.covariance(&left), x.gains(ahead, steps), x.form()
	size, sum := math.Sqrt(2*s.choice().log/sigma.square(g)), 0.0
	if !up {
		size = -size
	}
	for _, weight := range h {
		sum += weight * weight
	}
	for k := range g {
		c := 0.0
		for l := range g {
			c += size * sigma[k][l] * g[l]
		}
		for i, weight := range h {
			x.past[i][k] = c * weight / math.Sqrt(sum)
		}
	}
	x.steps = history
	for range ahead {
		x.noises()
	}
}

// adversary makes `history` steps. It then returns to the one after which the draws so far shift an experiment most
// that begins `ahead` steps later. The source continues from that step with fresh draws. adversary returns its number.
func (x *source) adversary(history, ahead, steps int) (announced uint64) {
	g, h, most := x.gains(ahead, steps), x.form(), -1.0
	chosen := make([][]float64, len(x.past))
	for range history {
		x.noises()
		sum := 0.0
		for i, past := range x.past {
			for k, c := range past {
				sum += h[i] * g[k] * c
			}
		}
		if sum = math.Abs(sum); sum > most {
			most, announced = sum, x.steps
			for i, past := range x.past {
				chosen[i] = append(chosen[i][:0], past...)
			}
		}
	}
	x.steps, x.past = announced, chosen
	for range ahead {
		x.noises()
	}
	return announced
}

// errs runs an experiment and reports whether its sequence excludes 0 at a look, and whether the arm is found better.
func errs(x *Experiment, src *source, looks int) (outside, better bool) {
	arms := make([]Arm, 2)
	for range looks {
		src.step(arms)
		x.Take(arms)
		e := x.Effect(1)
		outside = outside || e.Low > 0 || e.High < 0
	}
	return outside, x.Better(1)
}

// noisier returns the settings of two equal arms for life, whose noise is that at ε = 1, multiplied by draws.
func noisier(rate, batch, draws float64) Settings {
	s := halves(rate, batch)
	s.Noise = *memory1024()
	s.Count, s.Value = s.Count*draws, s.Value*draws
	return s
}

// TestTheWorstStart checks the error rate of experiments whose known part has the largest size that they pay for, in
// the worst direction. Theorem 6 bounds the error rate by α given that part. The shift is large, because these
// experiments start at once, or 20 steps later with much noise.
func TestTheWorstStart(t *testing.T) {
	runs := tiertest.Runs(100, 2000)
	for _, c := range []struct {
		rate, batch, draws float64
		ahead, looks       int
	}{{0.5, 100, 1, 1, 40}, {0.5, 100, 12.6, 1, 40}, {0.5, 100, 12.6, 20, 100}, {0.02, 100, 12.6, 20, 300}} {
		s := noisier(c.rate, c.batch, c.draws)
		s.Target = c.batch * float64(c.looks)
		x := New(s)
		for _, up := range []bool{false, true} {
			outside, better := 0, 0
			for seed := range runs {
				src := newSource(&s, uint64(seed), constant(c.rate))
				src.worst(20000, c.ahead, c.looks*2/3, up)
				x.Restart(src.steps, 20000)
				missed, found := errs(x, src, c.looks)
				if missed {
					outside++
				}
				if found {
					better++
				}
			}
			t.Logf("%+v, up %v: %d and %d of %d", c, up, outside, better, runs)
			if most := tolerated(runs); max(outside, better) > most {
				t.Errorf("%+v, up %v: %d left 0 out, %d found an arm better, of %d: above %d", c, up, outside, better, runs, most)
			}
		}
	}
}

// TestAStartChosenByTheNoise checks the error rate of an experiment that is appended to a running stream. Its first
// step is chosen by an adversary who knows all draws of noise so far.
func TestAStartChosenByTheNoise(t *testing.T) {
	runs, looks := tiertest.Runs(30, 1000), tiertest.Runs(60, 1000)
	for _, c := range tiertest.Runs(chosenStarts[:2], chosenStarts) {
		s := noisier(c.rate, c.batch, c.draws)
		s.Target = c.batch * float64(looks) / 2
		if c.noise != nil {
			s.Noise = *c.noise
		}
		if c.arms > 0 {
			s.Alpha /= c.arms
		}
		x, outside, better := New(s), 0, 0
		for seed := range runs {
			src := newSource(&s, uint64(seed), constant(c.rate))
			announced := src.adversary(c.history, c.ahead, c.over)
			x.Restart(src.steps, announced)
			missed, found := errs(x, src, looks)
			if missed {
				outside++
			}
			if found {
				better++
			}
		}
		s.Start, s.Announced = uint64(c.history+c.ahead), uint64(c.history)
		t.Logf("%+v: %d and %d of %d; %.3f times as wide", c, outside, better, runs, s.Wider(uint64(looks/2)))
		if most := tolerated(runs); max(outside, better) > most {
			t.Errorf("%+v: %d left 0 out, %d found an arm better, of %d: above %d", c, outside, better, runs, most)
		}
	}
}

// chosenStarts are settings of experiments with chosen starts. over is the number of steps whose shift the adversary
// makes largest, and arms divides α.
var chosenStarts = []struct {
	rate, batch, draws   float64
	history, ahead, over int
	arms                 float64
	noise                *Noise // nil: that of a memory of 1024
}{
	{0.02, 100, 4.4, 20000, 20, 300, 0, nil},
	{0.5, 100, 12.6, 20000, 1, 60, 0, nil},
	{0.02, 100, 12.6, 20000, 20, 300, 0, nil},
	{0.02, 100, 12.6, 20000, 20, 1000, 0, nil},
	{0.02, 100, 12.6, 1000, 20, 300, 0, nil},
	{0.02, 100, 12.6, 20000, 20, 300, 4, nil},
	{0.02, 100, 12.6, 20000, 20, 300, 0, memory65536()},
	{0.5, 100, 12.6, 20000, 20, 300, 0, memory65536()},
	{0.5, 100, 12.6, 20000, 20, 300, 0, nil},
	{0.5, 100, 12.6, 20000, 20, 100, 2, nil},
	{0.5, 100, 1, 20000, 20, 300, 0, nil},
	{0.1, 100, 4.4, 20000, 20, 100, 0, nil},
	{0.1, 100, 1, 20000, 1, 60, 0, nil},
	{0.1, 100, 0.125, 20000, 20, 300, 0, nil},
	{0.1, 1000, 12.6, 20000, 20, 1000, 0, nil},
	{0.02, 10, 1, 20000, 200, 300, 0, nil},
	{0.02, 10000, 126, 20000, 20, 300, 0, nil},
	{0.005, 100, 1, 20000, 20, 300, 0, nil},
	{0.005, 100, 12.6, 20000, 20, 300, 0, nil},
	{0.005, 100, 0.125, 20000, 20, 300, 0, nil},
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
		for _, turn := range [][2]uint64{{50, 0}, {80, 0}, {95, 0}, {95, 90}, {95, 60}} {
			start, announced := turn[0], turn[1]
			used.Restart(start, announced)
			s.Start, s.Announced = start, announced
			fresh, stored := New(s), New(s)
			for i := range 60 {
				if i == 25 {
					stored.Restart(3, 0)
					copy(stored.State(), fresh.State())
					stored.Resume(start, announced)
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
