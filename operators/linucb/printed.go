package linucb

import (
	"fmt"
	"math"
	"math/bits"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/elementary"
	"oriel/operators/moments"
)

// Names of ORIEL_NOISE. All but exact is what Shariff and Sheffet, "Differentially Private Contextual Linear Bandits"
// (NeurIPS 2018), section 4, print: of symmetric Gaussian noise, and of Wishart noise with the shift of Eq. (4) and
// without. What is drawn is Gaussian, of the variances and the mean of what they print. Only cmd/papers takes these, to
// compare exact noise with them.
const (
	exact     = "exact"
	paper     = "paper"
	wishart   = "paper-wishart"
	unshifted = "paper-unshifted"
)

var printedNoises = []string{paper, wishart, unshifted}

// paperNoise are the constants that are printed, for d features, a tree over n steps, rows of norm L̃ (square: two), ε,
// δ.
type paperNoise struct{ n, d, square, epsilon, delta float64 }

// levels is m, the nodes that a prefix has at most: ⌈log₂ n⌉ + 1.
func (s paperNoise) levels() float64 { return float64(bits.Len64(uint64(s.n)-1) + 1) }

// freedom is k, the degrees of freedom of a node's Wishart noise.
func (s paperNoise) freedom() float64 {
	times := float64(224*s.levels()) / float64(s.epsilon*s.epsilon)
	times = float64(times * elementary.Log(float64(8*s.levels())/s.delta))
	return s.d + 1 + math.Ceil(float64(times*elementary.Log(2/s.delta)))
}

// sigma is the standard deviation of a node's Gaussian noise: 4√m·L̃²·ln(4/δ)/ε.
func (s paperNoise) sigma() float64 {
	return float64(float64(float64(4*math.Sqrt(s.levels()))*s.square)*elementary.Log(4/s.delta)) / s.epsilon
}

// mu is what the noise of a name loses, where rows are exchanged: the m nodes of a row, each moved by L̃².
func (s paperNoise) mu(name string) float64 {
	sigma := s.sigma()
	if name != paper {
		sigma = float64(s.square * math.Sqrt(s.freedom()))
	}
	return float64(s.square*math.Sqrt(s.levels())) / sigma
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
	label := float64(c.rows.Label) / moments.Whole
	m.MaxMu = paperNoise{
		n: float64(max(2, m.Scope.Span())), d: float64(c.rows.Features), square: 1 + float64(label*label),
		epsilon: m.Budget.Epsilon, delta: m.Budget.Delta,
	}.mu(c.noise)
	if m.Unit.AgainstNull() {
		m.MaxMu = float64(m.MaxMu * math.Sqrt(0.5)) // moments.Rows.Distances: L̃²/√2
	}
	return nil
}

// shifted is κ, at least that of the bounds that are proved here, for noise of a standard deviation. n counts models,
// of all arms, and α is 1 − ORIEL_CONFIDENCE.
func (c operator) shifted(proved, sd, n float64) float64 {
	if c.noise == exact {
		return proved
	}
	label, root, failure := float64(c.rows.Label)/moments.Whole, math.Sqrt(float64(c.rows.Features)), 1-c.confidence
	if c.noise == paper { // 2Υ, Υ = σ√(2m)·(4√d + 2·ln(2n/α))
		wide := float64(4*root) + float64(2*elementary.Log(float64(2*n)/failure))
		return max(proved, float64(2*float64(float64(math.Sqrt2*sd)*wide)))
	}
	// Of Wishart noise L̃²√(mk) is the deviation and L̃²mk the mean. With e = √d + √(2·ln(8n/α)) the shift takes
	// L̃²((√(mk) − e)² − 4√(mk)·e) from it, where that is positive.
	square := 1 + float64(label*label)
	degrees, edge := sd/square, root+math.Sqrt(float64(2*elementary.Log(float64(8*n)/failure)))
	mean := float64(square * float64(degrees*degrees))
	if c.noise == wishart {
		mean = min(mean, float64(float64(square*edge)*(float64(6*degrees)-edge)))
	}
	return max(proved, mean)
}
