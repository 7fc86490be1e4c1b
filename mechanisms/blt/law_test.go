package blt

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// limit bounds a standardised statistic: a normal exceeds it with probability 1e-9. So a matrix of up to 100 entries is
// falsely rejected with probability below 1e-7. The seed is fixed.
const limit = 6.11

// covarianceError returns the largest deviation, in standard errors, of the measured covariances between the given
// steps from s²·Σ_j b_j·b_{j+t−u}, summed over the steps so far. The mean is known to be zero; for normal x and y,
// Var(xy) = c_xx·c_yy + c_xy².
func covarianceError(t *testing.T, f Filter, sampler noise.Sampler, s float64, steps, n int, at []int) (worst float64,
	where string,
) {
	t.Helper()
	c := newCarry(t, f, s, n, sampler)
	chain, dst, contribution := noise.NewChain([32]byte{4, 2}), make([]float64, n), make([]int64, n)
	samples := map[int][]float64{}
	for now := 1; now <= steps; now++ {
		sumtest.Step(c, chain, dst, contribution...)
		for _, chosen := range at {
			if chosen == now {
				samples[now] = append([]float64(nil), dst...)
			}
		}
	}
	b := impulse(f, steps)
	want := func(t, u int) float64 {
		sum := 0.0
		for j := range min(t, u) {
			sum += b[j] * b[j+max(t, u)-min(t, u)]
		}
		return s * s * sum
	}
	for _, t := range at {
		for _, u := range at {
			sum := 0.0
			for i := range n {
				sum += samples[t][i] * samples[u][i]
			}
			spread := math.Sqrt((want(t, t)*want(u, u) + want(t, u)*want(t, u)) / float64(n))
			if z := math.Abs(sum/float64(n)-want(t, u)) / spread; z > worst {
				worst, where = z, fmt.Sprintf("steps %d and %d", t, u)
			}
		}
	}
	return worst, where
}

// impulse returns b_0, b_1, … in float64.
func impulse(f Filter, terms int) []float64 {
	b := make([]float64, terms)
	b[0] = 1
	for k := range f.Count {
		x, q := float64(f.Residues[k])/unit, float64(f.Poles[k])/unit
		for j := 1; j < terms; j++ {
			b[j] += x
			x *= q
		}
	}
	return b
}

// inverse returns β_0, β_1, … in float64.
func inverse(f Filter, terms int) []float64 {
	b, beta := impulse(f, terms), make([]float64, terms)
	beta[0] = 1
	for j := 1; j < terms; j++ {
		for i := 1; i <= j; i++ {
			beta[j] -= b[i] * beta[j-i]
		}
	}
	return beta
}

// TestCovarianceIsThatOfTheFilter treats coordinates as independent streams. With s = 2²⁰ rounding adds a relative 2⁻⁴⁰
// to a variance.
func TestCovarianceIsThatOfTheFilter(t *testing.T) {
	const s = 1 << 20
	sampler := sumtest.Gaussian(t, s)
	for _, window := range []uint64{64, 1024, 16384} {
		f := fitFilter(t, window, 0.3, 0)
		n, at := tiertest.Runs(12_000, 100_000), []int{1, 2, 3, 17, 64, 100, 129, 130}
		if z, where := covarianceError(t, f, sampler, s, 130, n, at); z > limit {
			t.Errorf("W=%d: covariance of %s is %.1f standard errors off", window, where, z)
		}
	}
	faults := map[string]noise.Sampler{"half scale": sumtest.Gaussian(t, s/2), "reused": &stuck{Sampler: sampler}}
	for name, sampler := range faults {
		n := tiertest.Runs(8_000, 20_000)
		if z, _ := covarianceError(t, handmade(t), sampler, s, 20, n, []int{1, 2, 10, 20}); z < limit {
			t.Errorf("%s: not caught, worst covariance %.1f standard errors off", name, z)
		}
	}
}

// stuck plants a fault: every step has the noise of the first one.
type stuck struct {
	noise.Sampler
	seed *noise.Seed
}

func (s *stuck) Fill(dst []int64, seed noise.Seed) {
	if s.seed == nil {
		s.seed = &seed
	}
	s.Sampler.Fill(dst, *s.seed)
}

// A canary pair has contributions +Λ and −Λ at one step and zeros elsewhere. The statistic is the likelihood ratio over
// the window, Σ d_j·(β∗y)_{i+j}.
const (
	auditWindow = 8
	auditAlpha  = 1e-6 // the false-rejection probability of each Clopper-Pearson bound
	auditMu     = 2.9  // so small that few runs give a bound near it
)

var auditRuns = tiertest.Runs(2500, 10_000) // this many runs with the event, and as many without

// auditBound returns a lower bound on µ at confidence 1 − 2·auditAlpha. The threshold is half way between the two
// means.
func auditBound(t *testing.T, c *Sum, i int, weights []float64) float64 {
	t.Helper()
	start, lambda := c.AppendState(nil), grid.Lambda
	above := func(canary int64, world byte) (k int) {
		dst := make([]float64, 1)
		for run := range auditRuns {
			if err := c.Restore(start); err != nil {
				t.Fatal(err)
			}
			key := [32]byte{1: world}
			binary.LittleEndian.PutUint32(key[4:], uint32(run))
			chain, score := noise.NewChain(key), 0.0
			for now := range i - 1 + auditWindow {
				contribution := int64(0)
				if now == i-1 {
					contribution = canary
				}
				sumtest.Step(c, chain, dst, contribution)
				score += weights[now] * dst[0]
			}
			if score > 0 {
				k++
			}
		}
		return k
	}
	return sumtest.RefutedMu(above(lambda, 1), above(-lambda, 2), auditRuns, auditAlpha)
}

// likelihood returns the weights of releases 1 … i+W−1 in the likelihood-ratio statistic Σ_j d_j·(β∗y)_{i+j}.
func likelihood(f Filter, i int) []float64 {
	steps := i - 1 + auditWindow
	beta, weights, d := inverse(f, steps), make([]float64, steps), 0.0
	for j := range auditWindow {
		d += beta[j]
		for l := range i + j {
			weights[i-1+j-l] += d * beta[l]
		}
	}
	return weights
}

// TestAuditReachesTheClaim checks that the audit reaches the claim, for the first event and for later ones, without
// exceeding it, and that it catches planted faults.
func TestAuditReachesTheClaim(t *testing.T) {
	f := fitFilter(t, auditWindow, 0.3, 0)
	scale, err := Loss{Filter: f, Square: uint64(4 * grid.Lambda * grid.Lambda), N: 1}.ScaleFor(auditWindow, auditMu)
	if err != nil {
		t.Fatal(err)
	}
	s := scale.Float64()
	sampler := sumtest.Gaussian(t, s)
	for _, i := range []int{1, 2, 11} {
		got := auditBound(t, newCarry(t, f, s, 1, sampler), i, likelihood(f, i))
		t.Logf("event %d: bound %.4f, claim %.4f, ratio %.3f", i, got, auditMu, got/auditMu)
		if got < sumtest.PromisedMu(auditMu, auditRuns, auditAlpha) || got > auditMu {
			t.Errorf("event %d: bound %g, claim %g", i, got, auditMu)
		}
	}
	fault := func(name string, f Filter, sampler noise.Sampler, weights []float64) {
		t.Helper()
		if got := auditBound(t, newCarry(t, f, s, 1, sampler), 1, weights); !(got > auditMu) {
			t.Errorf("%s: not caught: bound %g, claim %g", name, got, auditMu)
		}
	}
	fault("half scale, or L for 2L", f, sumtest.Gaussian(t, s/2), likelihood(f, 1))
	white := f // a filter with nearly no carry: every release adds fresh noise to the event
	white.Residues = [MaxPoles]int32{1, 1}
	white.Shift, _ = white.shift()
	ones := make([]float64, auditWindow)
	for i := range ones {
		ones[i] = 1
	}
	fault("carry left out", white, sampler, ones)
	fault("noise missing at the last step", f, &gap{Sampler: sampler, at: auditWindow}, func() []float64 {
		w := inverse(f, auditWindow) // the weights that whiten the last release
		for i, j := 0, len(w)-1; i < j; i, j = i+1, j-1 {
			w[i], w[j] = w[j], w[i]
		}
		return w
	}())
}

// gap plants a fault: no noise at one step of each run.
type gap struct {
	noise.Sampler
	at, calls int
}

func (g *gap) Fill(dst []int64, seed noise.Seed) {
	g.calls++
	if g.Sampler.Fill(dst, seed); g.calls%auditWindow == g.at%auditWindow {
		clear(dst)
	}
}
