package opened

import (
	"math"
	"math/bits"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/protection"
)

// vectors returns the variance of a release in units of a noise vector's variance: the mean over steps, and the
// largest.
//
//	tree   the release at place p < W of a block has one node for each one bit of p and of W − p: h minus the number of
//	       zeros at the end of p. At p = W it has one node. The mean is h − 1 + 1/W
//	blt    Σb², which releases approach from below
//	       with decaying sums: Σb² of e/(1 − γx), and at most Σb² of the response after a reset
//	once   1
//
// With a horizon T ≤ W the mean is over the T steps of the stream: the one bits of the place in the only block, and
// Σ_{j<t} b_j².
func (m *Mechanism) vectors() (mean, most float64) {
	scope := m.Config.Scope
	t, ends := scope.End(), scope.End() != protection.Endless
	switch {
	case m.PerStep():
	case m.Calibration.Decays():
		return m.Calibration.Decay.Variance(), m.Calibration.Decay.Peak()
	case m.Facts.AtNodes() && ends:
		return float64(bitsUpTo(t)) / float64(t), float64(bits.Len64(t+1) - 1)
	case m.Facts.AtNodes():
		h := float64(m.Calibration.Levels)
		return h - 1 + 1/float64(scope.Span()), h
	case m.response != nil && ends:
		return filterUpTo(m.Calibration.Filter, t)
	case m.response != nil:
		sum := m.response.Noise()
		return sum, sum
	}
	return 1, 1
}

// bitsUpTo returns the total number of one bits in the numbers 1 … t. Among 2^{k+1} consecutive numbers from 0 on, bit
// k is set in the second half.
func bitsUpTo(t uint64) uint64 {
	total := uint64(0)
	for k := range bits.Len64(t) {
		half := uint64(1) << k
		rest := (t + 1) % (2 * half)
		total += (t+1)/(2*half)*half + max(rest, half) - half
	}
	return total
}

// filterUpTo returns the mean and the largest of the variances S_t = Σ_{j<t} b_j² over t = 1 … T. With x = q_k·q_l and
// y = 1 − x for each pair of poles,
//
//	S_t = 1 + Σ_{k,l} R_kR_l·(1 − x^{t−1})/y,    Σ_{t≤T} S_t = T + Σ_{k,l} R_kR_l·(T − (1 − x^T)/y)/y.
func filterUpTo(f blt.Filter, horizon uint64) (mean, most float64) {
	const unit = 1 << 30
	t := float64(horizon)
	mean, most = 1, 1
	for k := range f.Count {
		for l := range f.Count {
			p, q := float64(unit-f.Poles[k])/unit, float64(unit-f.Poles[l])/unit
			y := p + q - p*q
			short := func(steps float64) float64 { return -math.Expm1(steps*math.Log1p(-y)) / y } // (1 − x^steps)/y
			weight := float64(f.Residues[k]) / unit * float64(f.Residues[l]) / unit / y
			most += weight * short(t-1) * y
			mean += weight * (1 - short(t)/t)
		}
	}
	return mean, most
}

// vectorVariance returns the variance of one coordinate of a noise vector, divided by the square of its scale. It is 1
// for the Gaussian, 2 for Laplace and π²/6 for Gumbel. It is n + 1 for the density e^(−‖x‖/θ), whose norm is Gamma of
// shape n, with E‖x‖² = n(n+1)θ².
func vectorVariance(f mechanisms.Facts, n int) float64 {
	switch f.Law {
	case mechanisms.Gamma:
		return float64(n + 1)
	case mechanisms.Laplace:
		return 2
	case mechanisms.Gumbel:
		return math.Pi * math.Pi / 6
	case mechanisms.Gaussian:
	}
	return 1
}

// RMS returns the root mean square of the noise of one coordinate of a release, in loss units: the mean over steps, and
// the worst step. It omits rounding to the lattice, which adds less than one lattice unit, 2⁻²⁴ of the clip. If there
// are several components, it covers the coordinates of all components.
func (m *Mechanism) RMS() (mean, worst float64) {
	if m.Config.Contribution.Names > 0 {
		deviation := m.Stream.Names().Deviation
		return deviation, deviation
	}
	if m.Several() {
		all := together(m.Components())
		return all.RMSCoordinate, all.WorstCoordinate
	}
	average, most := m.vectors()
	one := m.Scale() * math.Sqrt(vectorVariance(m.Facts, m.Config.Dimension()))
	return one * math.Sqrt(average), one * math.Sqrt(most)
}

// OverOptimum returns the variance of a release over the smallest variance of any Gaussian mechanism that proves µ for
// the window (mechanisms/blt, PROOF.md, Theorem 2): S_W²(Δ/µ)², or its counterpart for decaying sums and all time. At
// user level the smallest variance is still a bound, because a user may have only one event. The result is none if no
// bound is known: for pure ε, for releases that are not prefix sums, and for streams that end.
func (m *Mechanism) OverOptimum(factor digits.Number) digits.Number {
	if m.Guarantee.Mu == 0 || m.PerStep() {
		return digits.None
	}
	return digits.Number(m.OverLeast()) / factor
}

// Decides returns the component from which decisions are made. If there are several components, it is the first.
func (m *Mechanism) Decides() Component {
	if m.Several() {
		return m.Components()[0]
	}
	mean, worst := m.RMS()
	root := math.Sqrt(float64(m.Config.Dimension()))
	return Component{
		Size: m.Config.Dimension(), RMSCoordinate: mean, WorstCoordinate: worst,
		RMSVector: mean * root, WorstVector: worst * root,
	}
}

// OverLeast returns the variance of a component's release divided by (Δ/µ)², where µ is the component's share of the
// budget's µ. The quotient is equal for all components.
func (m *Mechanism) OverLeast() float64 {
	part, shares := m.Config.Contribution.Components[0], 0.0
	for _, p := range m.Config.Contribution.Components {
		shares += float64(p.Share)
	}
	mu := m.Guarantee.Mu
	if len(m.Config.Contribution.Components) > 1 {
		mu *= math.Sqrt(float64(part.Share) / shares)
	}
	average, _ := m.vectors()
	one := m.Scale() * math.Sqrt(vectorVariance(m.Facts, part.Size))
	least := m.Sensitivity() / mu
	return one * one * average / (least * least)
}
