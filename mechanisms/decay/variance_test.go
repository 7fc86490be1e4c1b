package decay

import (
	"math"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// measured is the mean square of some releases, in units of s², and its expected value.
type measured struct {
	mean, want   float64
	below, above float64 // tolerance below and above the expected variance
}

func (m measured) wrong() bool { return m.mean < m.want-m.below || m.mean > m.want+m.above }

// stationary measures the variance between resets over steps releases, divided by the square of scale, for the real
// carry, chain and sampler, without data. The first 8H steps of a block are left out: after them, the effect of a start
// or a reset is e^−16 of the variance.
//
// The tolerance is missed with probability at most 2·10⁻⁹. The mean square of N = steps·n releases is ΣλZ², Z normal,
// with 2Σλ² ≤ v = 2/N·Σ_τ γ_τ² by the autocovariances γ_τ over all lags, and λ ≤ L = (Σ|b|)²/N. So for x = ln(10⁹) it
// exceeds its mean by √(2vx) + 2Lx, or falls below it by √(2vx), with probability at most e^−x each (Laurent and
// Massart 2000, Lemma 1).
func stationary(t *testing.T, f Filter, s float64, sampler noise.Sampler, steps, n int, scale float64) measured {
	t.Helper()
	c, settle := newCarry(t, f, s, n, sampler), 8*f.Memory
	chain, dst, contribution := noise.NewChain([32]byte{1, 6}), make([]float64, n), make([]int64, n)
	sum, count := 0.0, 0
	for count < steps*n {
		sumtest.Step(c, chain, dst, contribution...)
		if (c.Steps()-1)%c.period < settle {
			continue
		}
		for _, y := range dst {
			sum += y * y
			count++
		}
	}
	_, _, b := floats(f, 40*int(f.Memory))
	absolute, squares := 0.0, 0.0
	for lag := range b {
		gamma := 0.0
		for j := range len(b) - lag {
			gamma += b[j] * b[j+lag]
		}
		if absolute += math.Abs(b[lag]); lag == 0 {
			squares -= gamma * gamma
		}
		squares += 2 * gamma * gamma
	}
	x := math.Log(1e9)
	v, l := 2*squares/float64(count), absolute*absolute/float64(count)
	m := measured{mean: sum / (float64(count) * scale * scale), want: f.Variance(), below: math.Sqrt(2 * v * x)}
	m.above = m.below + 2*l*x
	return m
}

// TestMeasuredVarianceIsTheFormula checks that the variance of releases between resets is s²Σb², over 2¹⁷ releases for
// each memory.
func TestMeasuredVarianceIsTheFormula(t *testing.T) {
	const s, steps = 1 << 30, 1 << 17
	sampler := sumtest.Gaussian(t, s)
	for _, f := range []Filter{written(t)[0], written(t)[1]} {
		m := stationary(t, f, s, sampler, steps, 16, s)
		t.Logf("H=%d: %d releases of 16 coordinates: variance %.5f s², formula %.5f, tolerance −%.4f +%.4f", f.Memory, steps, m.mean, m.want, m.below, m.above)
		if m.wrong() || m.above > 0.06*m.want {
			t.Errorf("H=%d: variance %g s², want %g within −%g +%g", f.Memory, m.mean, m.want, m.below, m.above)
		}
	}
	f := written(t)[1]
	if m := stationary(t, f, s, sumtest.Gaussian(t, s/2), 1<<12, 16, s); !m.wrong() {
		t.Error("half scale: not caught")
	}
	bare := f
	bare.Residues = [MaxPoles]uint32{1, 1}
	m := stationary(t, bare, s, sampler, 1<<12, 16, s)
	if m.want = f.Variance(); !m.wrong() {
		t.Error("carry left out: not caught")
	}
}

// rising measures the variance of the releases at some ages after a reset, over n independent coordinates. The carry
// starts 10H steps before the reset, so the missing older noise is below e^−20 of the variance. fault may change the
// carry after each step.
func rising(t *testing.T, f Filter, s float64, n int, ages []uint64, fault func(c *Sum)) []measured {
	t.Helper()
	c := newCarry(t, f, s, n, sumtest.Gaussian(t, s))
	c.steps = f.Period() - 10*f.Memory
	chain, dst, contribution := noise.NewChain([32]byte{2, 6}), make([]float64, n), make([]int64, n)
	var out []measured
	for len(out) < len(ages) {
		fault(c)
		sumtest.Step(c, chain, dst, contribution...)
		if c.Steps() != f.Period()+ages[len(out)] {
			continue
		}
		sum := 0.0
		for _, y := range dst {
			sum += y * y
		}
		m := measured{mean: sum / (float64(n) * s * s), want: f.VarianceAt(c.Steps())}
		m.below = m.want * 6.11 * math.Sqrt(2/float64(n)) // a normal statistic exceeds it with probability 1e-9
		m.above = m.below
		out = append(out, m)
	}
	return out
}

// TestMeasuredVarianceAfterAReset checks that after a reset the variance rises and falls back as VarianceAt computes,
// over 20 000 coordinates, 8 000 in the short form. It must detect a reset that is left out, and a reset that also
// clears the released sum.
func TestMeasuredVarianceAfterAReset(t *testing.T) {
	const s = 1 << 30
	n := tiertest.Runs(8_000, 20_000)
	f, ages := written(t)[1], []uint64{1, 2, 3, 6, 20, 64, 200}
	for i, m := range rising(t, f, s, n, ages, func(*Sum) {}) {
		t.Logf("age %d: variance %.4f s², formula %.4f, between resets %.4f", ages[i], m.mean, m.want, f.Variance())
		if m.wrong() {
			t.Errorf("age %d: variance %g s², want %g", ages[i], m.mean, m.want)
		}
	}
	caught := func(name string, fault func(c *Sum)) {
		t.Helper()
		for _, m := range rising(t, f, s, 5_000, ages[:4], fault) {
			if m.wrong() {
				return
			}
		}
		t.Errorf("%s: not caught", name)
	}
	caught("sums forgotten at a reset", func(c *Sum) {
		if c.steps == c.period {
			clear(c.sums)
		}
	})
	caught("reset left out", func(c *Sum) {
		if c.steps == c.period-1 {
			late := *c.shared
			late.period *= 2
			c.shared = &late
		}
	})
}
