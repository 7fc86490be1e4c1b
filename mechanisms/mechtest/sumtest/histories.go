package sumtest

import (
	"math"
	"testing"

	"oriel/mechanisms/dp"
)

// Histories lists all histories of releases with their probabilities in two neighbouring streams, and with the shifts
// α_t between the noises of both streams.
type Histories struct{ list []history }

type history struct{ p, q, squares float64 }

// Add adds a history that has probability p in the first stream and q in the neighbouring one. squares is Σα_t² of its
// shifts, in units of s².
func (h *Histories) Add(p, q, squares float64) { h.list = append(h.list, history{p, q, squares}) }

// divergence returns H_{e^ε} of the probabilities here and there. closed > 0 appends a step to each history, whose
// shift raises Σα_t² to closed².
func (h *Histories) divergence(epsilon float64, here, there func(history) float64, closed float64) (sum float64) {
	for _, x := range h.list {
		p, q := here(x), math.Exp(epsilon)*there(x)
		a := math.Sqrt(max(0, closed-x.squares))
		if a == 0 || p == 0 || q == 0 {
			sum += max(0, p-q)
			continue
		}
		// ∫ (p·φ(z) − q·φ(z − a))₊ dz, where the integrand is positive below c.
		c := math.Log(p/q)/a + a/2
		sum += p*math.Erfc(-c/math.Sqrt2)/2 - q*math.Erfc((a-c)/math.Sqrt2)/2
	}
	return sum
}

// largest returns µ*, the largest √Σα_t² of all histories.
func (h *Histories) largest() float64 {
	worst := 0.0
	for _, x := range h.list {
		worst = max(worst, x.squares)
	}
	return math.Sqrt(worst)
}

var (
	here  = func(x history) float64 { return x.p }
	there = func(x history) float64 { return x.q }

	epsilons = []float64{0, 0.1, 0.5, 1, 2, 4}
)

// AreWithin checks dp/PROOF.md, Lemma 5 for shifts that depend on releases: no history has √Σα_t² above the claim, and
// in both orders δ(ε) is at most the δ(ε) of µ*, the largest √Σα_t². It reports whether a claim from the mean of Σα_t²
// over histories would be too small.
func (h *Histories) AreWithin(t testing.TB, what string, claim float64) (meanIsShort bool) {
	t.Helper()
	worst, mean := h.largest(), 0.0
	for _, x := range h.list {
		mean += x.p * x.squares
	}
	if worst > claim*(1+1e-12) {
		t.Errorf("%s: a history realises µ = %g, claimed %g", what, worst, claim)
	}
	for _, epsilon := range epsilons {
		forth, back := h.divergence(epsilon, here, there, 0), h.divergence(epsilon, there, here, 0)
		if bound := dp.GaussianDelta(epsilon, worst); max(forth, back) > bound*(1+1e-9) {
			t.Errorf("%s: δ(%g) = %g and %g, above %g of µ* = %g", what, epsilon, forth, back, bound, worst)
		}
		meanIsShort = meanIsShort || max(forth, back) > dp.GaussianDelta(epsilon, math.Sqrt(mean))
	}
	return meanIsShort
}

// AreNormalWithOneMoreStep checks the argument of the proof that is exact for continuous noise. With one more step,
// whose shift raises every history's Σα_t² to µ*², δ(ε) must equal the δ(ε) of µ*, up to the relative tolerance share.
// Noise of integers has the variance s² + 1/12.
func (h *Histories) AreNormalWithOneMoreStep(t testing.TB, what string, share float64) {
	t.Helper()
	worst := h.largest()
	for _, epsilon := range epsilons {
		most, least := dp.GaussianDelta(epsilon, worst), dp.GaussianDelta(epsilon, worst*(1-share))
		if closed := h.divergence(epsilon, here, there, worst*worst); closed > most*(1+1e-9) || closed < least {
			t.Errorf("%s: δ(%g) = %g with one more step, want %g to %g", what, epsilon, closed, least, most)
		}
	}
}
