package linucb

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators"
	"oriel/operators/moments"
)

// These are the values of ORIEL_NOISE. All but exact select noise that Shariff and Sheffet, "Differentially Private
// Contextual Linear Bandits" (NeurIPS 2018), section 4, print: symmetric Gaussian noise, and Wishart noise with and
// without the shift of Eq. (4). The machine draws Gaussian noise with the variances and the mean of the printed noise.
// Only cmd/papers offers these values.
const (
	exact     = "exact"
	paper     = "paper"
	wishart   = "paper-wishart"
	unshifted = "paper-unshifted"
)

// Printed computes noise as a paper prints it, by its name in ORIEL_NOISE, for d features and rows of norm L̃ (square
// is L̃², for example 2).
type Printed interface {
	// Mu returns the privacy loss of exchanging a row, µ of GDP, under the noise of a tree over n steps.
	Mu(noise string, n, d, square float64, b dp.Budget) float64

	// Shift returns κ for noise of standard deviation sd and n models. It is too small with probability at most
	// failure.
	Shift(noise string, d, square, sd, n, failure float64) float64
}

// checkNoise reports a mechanism that ORIEL_NOISE does not support.
func (c operator) checkNoise(v *operators.Values) {
	if c.noise == exact {
		return
	}
	_, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("NOISE", !known || v.Mechanism == treeGaussian, "%s: is printed for %s, not for %s", c.noise, treeGaussian,
		v.Mechanism)
	v.Want("NOISE", c.noise != unshifted || c.confidence > 0,
		"%s: differs from %s by the shift of ORIEL_CONFIDENCE, which is not set", unshifted, wishart)
}

const treeGaussian = "tree-gaussian"

// setPrintedNoise sets m to the noise level that the paper prints.
func (c operator) setPrintedNoise(m *mechanisms.Config) error {
	if c.noise == exact {
		return nil
	}
	if _, several := m.Unit.EventSeparation(); m.Name != treeGaussian || several {
		return fmt.Errorf("linucb: ORIEL_NOISE=%s: is printed for events and %s, not for users, nor for %s", c.noise,
			treeGaussian, m.Name)
	}
	m.MaxMu = c.printed.Mu(c.noise, float64(max(2, m.Scope.Span())), float64(c.rows.Features), c.square(), m.Budget)
	if m.Unit.AgainstNull() {
		m.MaxMu = float64(m.MaxMu * math.Sqrt(0.5)) // because moments.Rows.Distances is L̃²/√2
	}
	return nil
}

// square returns L̃².
func (c operator) square() float64 {
	label := float64(c.rows.Label) / moments.MaxLabel
	return 1 + float64(label*label)
}

// shifted returns κ for noise of standard deviation sd: the printed shift, or proved if that is larger. n counts models
// of all arms.
func (c operator) shifted(proved, sd, n float64) float64 {
	if c.noise == exact {
		return proved
	}
	return max(proved, c.printed.Shift(c.noise, float64(c.rows.Features), c.square(), sd, n, 1-c.confidence))
}
