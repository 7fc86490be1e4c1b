package plan

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/protection"
)

// machine is a mechanism that is opened for one configuration.
type machine struct {
	config    mechanisms.Config
	plan      mechanisms.Calibration
	opened    *mechanisms.Mechanism
	stream    *mechanisms.Stream
	guarantee protection.Guarantee
	facts     mechanisms.Facts
	response  *blt.Response // response of blt; otherwise nil
}

func open(c mechanisms.Config) (*machine, error) {
	p, err := mechanisms.Calibrate(c)
	if err != nil {
		return nil, err
	}
	opened, err := mechanisms.NewMechanism(c, p)
	if err != nil {
		return nil, err
	}
	stream := opened.Open([32]byte{})
	m := &machine{
		config: c, plan: p, opened: opened, stream: stream, guarantee: stream.Guarantee(), facts: factsOf(c.Name),
	}
	if p.Filter.Count > 0 {
		if m.response, err = blt.NewResponse(p.Filter); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *machine) poles() int { return int(m.plan.Filter.Count + m.plan.Decay.Count) }

// bothSigns reports whether the filter has residues of both signs. The response then rises after falling
// (mechanisms/blt, PROOF.md, Lemma 1), so that the account of a user states a larger loss than the user has.
func (m *machine) bothSigns() bool {
	return slices.ContainsFunc(m.plan.Filter.Residues[:m.plan.Filter.Count], func(r int32) bool { return r < 0 })
}

// factsOf returns the facts of a mechanism, which must exist.
func factsOf(name string) mechanisms.Facts {
	facts, known := mechanisms.FactsOf(name)
	if !known {
		panic(fmt.Sprintf("BUG: plan: mechanism %q", name))
	}
	return facts
}

// filtered is the mechanism with a fitted filter, whose figures are drawn beside the optimum's.
const filtered = "blt"

// sensitivity returns Δ in loss units, exactly.
func (m *machine) sensitivity() float64 { return m.plan.Sensitivity(m.config) }

// lattice returns Δ in lattice units.
func (m *machine) lattice() int64 { return int64(m.sensitivity() / m.plan.Grid.Unit()) }

// scale returns σ or θ of a noise vector in loss units; with several components, of the first one.
func (m *machine) scale() float64 { return m.plan.Scale.Float64() * m.plan.Grid.Unit() }

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
func (m *machine) vectors() (mean, most float64) {
	scope := m.config.Scope
	t, ends := scope.End(), scope.End() != protection.Endless
	switch {
	case m.stream.PerStep():
	case m.plan.Decays():
		return m.plan.Decay.Variance(), m.plan.Decay.Peak()
	case m.facts.Structure == mechanisms.Tree && ends:
		return float64(bitsUpTo(t)) / float64(t), float64(bits.Len64(t+1) - 1)
	case m.facts.Structure == mechanisms.Tree:
		h := float64(m.plan.Levels)
		return h - 1 + 1/float64(scope.Span()), h
	case m.response != nil && ends:
		return filterUpTo(m.plan.Filter, t)
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

// rms returns the root mean square of the noise of one coordinate of a release, in loss units: the mean over steps, and
// the worst step. It omits rounding to the lattice, which adds less than one lattice unit, 2⁻²⁴ of the clip. If there
// are several components, it covers the coordinates of all components.
func (m *machine) rms() (mean, worst float64) {
	if m.several() {
		all := together(m.components())
		return all.RMSCoordinate, all.WorstCoordinate
	}
	average, most := m.vectors()
	one := m.scale() * math.Sqrt(vectorVariance(m.facts, m.config.Dimension()))
	return one * math.Sqrt(average), one * math.Sqrt(most)
}

// overOptimum returns the variance of a release over the smallest variance of any Gaussian mechanism that proves µ for
// the window (mechanisms/blt, PROOF.md, Theorem 2): S_W²(Δ/µ)², or its counterpart for decaying sums and all time. At
// user level the smallest variance is still a bound, because a user may have only one event. The result is none if no
// bound is known: for pure ε, for releases that are not prefix sums, and for streams that end.
func (m *machine) overOptimum(factor digits.Number) digits.Number {
	if m.guarantee.Mu == 0 || m.stream.PerStep() {
		return digits.None
	}
	if m.several() {
		return digits.Number(m.overLeast()) / factor
	}
	mean, _ := m.rms()
	least := m.sensitivity() / m.guarantee.Mu
	return digits.Number(mean*mean/(least*least)) / factor
}
