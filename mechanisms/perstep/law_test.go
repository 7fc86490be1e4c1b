package perstep

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// limit bounds a standardised statistic: a normal exceeds it with probability 1e-9, two-sided. Seeds are fixed, so a
// failure means a bug.
const limit = 6.11

// covarianceError returns the largest deviation, in standard errors, of the covariance matrix of the noise of 8 steps
// from variance·I. The matrix is variance·I if noise is fresh in each step. Each of n coordinates is an independent
// stream; Var(xy) of independent x, y is variance², Var(x²) of normal x is 2·variance².
func covarianceError(t *testing.T, sampler noise.Sampler, variance float64) (worst float64, where string) {
	t.Helper()
	const steps, n = 8, 100_000
	o, chain, contribution := newPerStep(t, n, sampler), noise.NewChain([32]byte{4, 2}), make([]int64, n)
	var samples [steps][]float64
	for now := range samples {
		samples[now] = make([]float64, n)
		sumtest.Step(o, chain, samples[now], contribution...)
	}
	for s := range samples {
		for u := range s + 1 {
			sum, want, spread := 0.0, 0.0, variance
			for i := range n {
				sum += samples[s][i] * samples[u][i]
			}
			if s == u {
				want, spread = variance, math.Sqrt2*variance
			}
			if z := math.Abs(sum/n-want) / (spread / math.Sqrt(n)); z > worst {
				worst, where = z, fmt.Sprintf("steps %d and %d", s+1, u+1)
			}
		}
	}
	return worst, where
}

// reused plants a fault: every step has the noise of the first one.
type reused struct {
	noise.Sampler
	seed *noise.Seed
}

func (r *reused) Fill(dst []int64, seed noise.Seed) {
	if r.seed == nil {
		r.seed = &seed
	}
	r.Sampler.Fill(dst, *r.seed)
}

// TestNoiseIsFreshInEachStep compares covariances at s = 2²⁰, where rounding adds a relative 2⁻⁴⁴ to a variance.
func TestNoiseIsFreshInEachStep(t *testing.T) {
	const s = 1 << 20
	if z, where := covarianceError(t, sumtest.Gaussian(t, s), s*s); z > limit {
		t.Errorf("covariance of %s is %.1f standard errors off", where, z)
	}
	faults := map[string]noise.Sampler{
		"half scale": sumtest.Gaussian(t, s/2), "missing": silence{}, "reused": &reused{Sampler: sumtest.Gaussian(t, s)},
	}
	for name, sampler := range faults {
		if z, _ := covarianceError(t, sampler, s*s); z < limit {
			t.Errorf("%s: not caught, worst covariance %.1f standard errors off", name, z)
		}
	}
}

// TestNormOfGammaNoise checks that a Gamma step has E‖x‖² = θ²n(n+1). With ‖x‖² = θ²χ²_{n+1}χ²_n, the variance of
// ‖x‖²/θ² is ab((a+2)(b+2) − ab), a = n+1, b = n.
func TestNormOfGammaNoise(t *testing.T) {
	const theta, n, keys = 1 << 20, 5, 4000
	o, dst, sum := newPerStep(t, n, gamma(t, theta, n)), make([]float64, n), 0.0
	for key := range keys {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], uint64(key))
		sumtest.Step(o, noise.NewChain(seed), dst, make([]int64, n)...)
		for _, x := range dst {
			sum += x / theta * x / theta
		}
	}
	const a, b = n + 1, n
	if z := (sum/keys - a*b) / math.Sqrt(a*b*((a+2)*(b+2)-a*b)/float64(keys)); math.Abs(z) > limit {
		t.Errorf("mean squared norm %g, want %d, %.1f standard errors off", sum/keys, a*b, z)
	}
}

// world is one of two neighbouring streams of one coordinate, whose contribution at a step may depend on earlier
// releases.
type world func(step int, releases []float64) int64

// eachHistory enumerates every history of noise n_1 … n_T with |n_t| ≤ reach through the real Add. By the chain rule it
// computes the probability of the history's releases in both worlds: the product of P(noise = n_t) in x, and in y the
// product for the noise that gives the same releases. cell returns the probability of a noise.
func eachHistory(t *testing.T, reach int64, cell func(int64) float64, x, y world, steps int, f func(p, q float64)) {
	draws, dst := &sumtest.Script{Values: []int64{0}}, make([]float64, 1)
	o, chain := newPerStep(t, 1, draws), noise.NewChain([32]byte{})
	var walk func(releases []float64, p, q float64)
	walk = func(releases []float64, p, q float64) {
		now := len(releases)
		if now == steps {
			f(p, q)
			return
		}
		for n := -reach; n <= reach; n++ {
			draws.Values[0] = n
			sumtest.Step(o, chain, dst, x(now, releases))
			release := dst[0]
			walk(append(releases, release), p*cell(n), q*cell(int64(release)-y(now, releases)))
		}
	}
	walk(nil, 1, 1)
}

// exactDeltas returns δ of the joint law of all releases at each ε, for Gaussian noise of scale s.
func exactDeltas(t *testing.T, s float64, x, y world, steps int, epsilons []float64) []float64 {
	t.Helper()
	deltas := make([]float64, len(epsilons))
	eachHistory(t, int64(math.Ceil(6*s)), sumtest.NormalCell(s), x, y, steps, func(p, q float64) {
		for k, epsilon := range epsilons {
			deltas[k] += max(0, p-math.Exp(epsilon)*q)
		}
	})
	return deltas
}

// TestExactLawIsWithinTheClaim checks PROOF.md, Theorem 1, exactly: δ_exact ≤ δ(Δ/s) for the joint law of all releases,
// even if the event's step or later contributions depend on releases. For a single release the two differ only by
// rounding. The test must find a contribution that is released twice.
func TestExactLawIsWithinTheClaim(t *testing.T) {
	epsilons := []float64{0, 0.1, 0.5, 1, 2, 4}
	follow := func(at int, contribution int64) world { // adaptive: contributions depend on earlier releases
		return func(step int, releases []float64) int64 {
			switch {
			case step == at:
				return contribution
			case step > at:
				return int64(releases[step-1]) % 3
			}
			return 1
		}
	}
	// The event occurs in the second or the third step, depending on the first release.
	invited := func(contribution int64) world {
		return func(step int, releases []float64) int64 {
			if step > 0 && (releases[0] > 0) == (step == 1) {
				return contribution
			}
			return 0
		}
	}
	twice := func(contribution int64) world { return func(int, []float64) int64 { return contribution } }
	for _, c := range []struct {
		s     float64
		delta int64
	}{{0.7, 1}, {1, 1}, {1.5, 3}, {3, 4}} {
		claim := float64(c.delta) / c.s
		for at := range 3 {
			steps := 3
			if c.s > 1 {
				steps = at + 1
			}
			for k, delta := range exactDeltas(t, c.s, follow(at, 0), follow(at, c.delta), steps, epsilons) {
				if bound := dp.GaussianDelta(epsilons[k], claim); delta > bound*(1+1e-9) {
					t.Errorf("s=%g Δ=%d, step %d: δ(%g) = %g, claimed %g", c.s, c.delta, at+1, epsilons[k], delta, bound)
				}
			}
		}
		if c.s <= 1 {
			for k, delta := range exactDeltas(t, c.s, invited(0), invited(c.delta), 3, epsilons) {
				if bound := dp.GaussianDelta(epsilons[k], claim); delta > bound*(1+1e-9) {
					t.Errorf("s=%g Δ=%d, a step that releases choose: δ(%g) = %g, claimed %g", c.s, c.delta, epsilons[k], delta, bound)
				}
			}
		}
		caught := false
		for k, delta := range exactDeltas(t, c.s, twice(0), twice(c.delta), 2, epsilons) {
			caught = caught || delta > dp.GaussianDelta(epsilons[k], claim)
		}
		if !caught {
			t.Errorf("s=%g Δ=%d: a contribution that is released twice is not caught", c.s, c.delta)
		}
	}
}

// TestExactLawOfAUserWhoIsPresent checks Theorems 12 and 13 of mechanisms/PROOF.md, exactly: a user is present in one
// world and absent in the other, the steps of the user's events depend on releases, and all other contributions may.
// The joint law of all releases must be within kµ for one period, and √n·kµ for n of them. Single releases reach the
// claim. The test must find a claim that forgets k, one of √k, and one of a single period.
func TestExactLawOfAUserWhoIsPresent(t *testing.T) {
	epsilons := []float64{0, 0.1, 0.5, 1, 2, 4}
	absent := func(step int, releases []float64) int64 {
		if step > 0 {
			return int64(releases[step-1]) % 2
		}
		return 0
	}
	// with returns absent with the contribution of the user's events, at most k in a period.
	with := func(events func(step int, releases []float64) int64) world {
		return func(step int, releases []float64) int64 { return absent(step, releases) + events(step, releases) }
	}
	together := with(func(step int, _ []float64) int64 { return 2 * int64(1-min(step, 1)) })
	apart := with(func(step int, releases []float64) int64 { // the second event, in the same period, follows a release
		if step == 0 || (releases[0] > 0) == (step == 1) {
			return 1
		}
		return 0
	})
	twoPeriods := with(func(step int, releases []float64) int64 { // both events of a period in one of its two steps
		if step%2 == 0 && len(releases) == step {
			return 2
		}
		return 0
	})
	const s = 1.0
	for name, c := range map[string]struct {
		present   world
		steps     int
		claim     float64   // µ, as a number of contributions
		forgotten []float64 // claims that must be found
		pure      float64   // largest loss of pure noise, as a number of contributions
	}{
		"k together":  {together, 1, 2, []float64{1, math.Sqrt2}, 2},
		"k apart":     {apart, 3, 2, []float64{1}, 2},
		"two periods": {twoPeriods, 3, 2 * math.Sqrt2, []float64{2}, 4},
	} {
		deltas := exactDeltas(t, s, absent, c.present, c.steps, epsilons)
		below := func(claim float64) (found bool) {
			for k, delta := range deltas {
				found = found || delta > dp.GaussianDelta(epsilons[k], claim/s)*(1+1e-9)
			}
			return found
		}
		if below(c.claim) {
			t.Errorf("%s: δ is %g, above the claim of µ = %g", name, deltas, c.claim)
		}
		for _, claim := range c.forgotten {
			if !below(claim) {
				t.Errorf("%s: a claim of µ = %g is not found", name, claim)
			}
		}
		pure := 0.0
		eachHistory(t, 6, doubleExponential, absent, c.present, c.steps, func(p, q float64) {
			pure = max(pure, math.Abs(math.Log(p/q)))
		})
		if math.Abs(pure-c.pure) > 1e-9 {
			t.Errorf("%s: pure noise loses %g, want %g", name, pure, c.pure)
		}
	}
}

// doubleExponential returns P(round(x) = n) for the density e^{−|x|}/2, which the gamma mechanism's noise of scale 1
// has in one coordinate.
func doubleExponential(n int64) float64 {
	if n == 0 {
		return 1 - math.Exp(-0.5)
	}
	return math.Sinh(0.5) * math.Exp(-math.Abs(float64(n)))
}

// discrete returns P(n) = (1−q)/(1+q)·q^|n| for q = e^{−1/s}.
func discrete(s float64) func(int64) float64 {
	q := math.Exp(-1 / s)
	return func(n int64) float64 { return (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(n))) }
}

// TestExactLawOfDiscreteNoise checks PROOF.md, Theorem 3, exactly: the likelihood ratio of all releases is at most
// e^{Δ₁/s} on every history and reaches it, for single events, for events whose step depends on releases, and for the k
// events of a user. The test must find a claim of one event too few, a zero that both signs count, a zero that is
// lost, and a contribution that is released twice.
func TestExactLawOfDiscreteNoise(t *testing.T) {
	event := func(contribution int64) world { // in the second or the third step, depending on the first release
		return func(step int, releases []float64) int64 {
			if step > 0 && (releases[0] > 0) == (step == 1) {
				return contribution
			}
			return 0
		}
	}
	twice := func(contribution int64) world { return func(int, []float64) int64 { return contribution } }
	loss := func(cell func(int64) float64, x, y world, steps int) (worst float64) {
		eachHistory(t, 6, cell, x, y, steps, func(p, q float64) { worst = max(worst, math.Abs(math.Log(p/q))) })
		return worst
	}
	for _, s := range []float64{0.5, 1, 3} {
		for _, distance := range []int64{1, 2, 5} { // of one event, or of k events with 1 each
			claim := float64(distance) / s
			if got := loss(discrete(s), event(0), event(distance), 3); math.Abs(got-claim) > 1e-9 {
				t.Errorf("s=%g Δ₁=%d: loss %g, claimed %g", s, distance, got, claim)
			}
			if got := loss(discrete(s), twice(0), twice(distance), 2); got <= claim*(1+1e-9) {
				t.Errorf("s=%g Δ₁=%d: a contribution that is released twice is not found", s, distance)
			}
		}
		claim, law := 1/s, discrete(s)
		for what, share := range map[string]float64{"counted twice": 2, "lost": 0} {
			zero := func(n int64) float64 {
				if n == 0 {
					return share * law(0)
				}
				return law(n)
			}
			if got := loss(zero, event(0), event(1), 3); got <= claim*(1+1e-9) {
				t.Errorf("s=%g: a zero that is %s is not found", s, what)
			}
		}
	}
}
