package linucb

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators"
	"oriel/operators/moments"
)

// Names of ORIEL_NOISE. All but exact is what Shariff and Sheffet, "Differentially Private Contextual Linear Bandits"
// (NeurIPS 2018), section 4, print: of symmetric Gaussian noise, and of Wishart noise with the shift of Eq. (4) and
// without. What is drawn is Gaussian, of the variances and the mean of what they print. Only cmd/papers has these.
const (
	exact     = "exact"
	paper     = "paper"
	wishart   = "paper-wishart"
	unshifted = "paper-unshifted"
)

// Printed is noise as a paper prints it, by the names of ORIEL_NOISE, for d features and rows of norm L̃ (square: two).
type Printed interface {
	// Mu returns what the noise of a tree over n steps loses where rows are exchanged.
	Mu(noise string, n, d, square float64, b dp.Budget) float64

	// Shift returns κ for noise of a standard deviation and n models, which fails with a probability at most.
	Shift(noise string, d, square, sd, n, failure float64) float64
}

// checkNoise says which mechanism ORIEL_NOISE goes with.
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

// quieten asks a mechanism for the noise that is printed.
func (c operator) quieten(m *mechanisms.Config) error {
	if c.noise == exact {
		return nil
	}
	if _, several := m.Unit.EventSeparation(); m.Name != treeGaussian || several {
		return fmt.Errorf("linucb: ORIEL_NOISE=%s: is printed for events and %s, not for users, nor for %s", c.noise,
			treeGaussian, m.Name)
	}
	m.MaxMu = c.printed.Mu(c.noise, float64(max(2, m.Scope.Span())), float64(c.rows.Features), c.square(), m.Budget)
	if m.Unit.AgainstNull() {
		m.MaxMu = float64(m.MaxMu * math.Sqrt(0.5)) // moments.Rows.Distances: L̃²/√2
	}
	return nil
}

// square is L̃².
func (c operator) square() float64 {
	label := float64(c.rows.Label) / moments.Whole
	return 1 + float64(label*label)
}

// shifted is κ, at least that of the bounds that are proved here, for noise of a standard deviation. n counts models,
// of all arms.
func (c operator) shifted(proved, sd, n float64) float64 {
	if c.noise == exact {
		return proved
	}
	return max(proved, c.printed.Shift(c.noise, float64(c.rows.Features), c.square(), sd, n, 1-c.confidence))
}
