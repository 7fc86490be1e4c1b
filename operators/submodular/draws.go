package submodular

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/description"
	"oriel/operators/elementary"
)

// schedule sets when a stream draws: once in ORIEL_EMIT_EVERY steps it draws a set of k elements, one position after
// the other.
func (c operator) schedule(m *mechanisms.Config) error {
	if m.Name != mechanisms.ExponentialMechanism {
		return fmt.Errorf("submodular: ORIEL_RULE=%s takes %s, not %s", byDraws, mechanisms.ExponentialMechanism, m.Name)
	}
	if c.every > m.Scope.End() {
		return fmt.Errorf("submodular: ORIEL_EMIT_EVERY=%d: above the %d steps after which the stream ends, so that nothing is drawn",
			c.every, m.Scope.End())
	}
	m.Draws = mechanisms.Draws{K: uint64(c.pick), Every: c.every}
	switch {
	case c.bounded:
		m.Draws.MaxEpsilon = c.boundedRate(*m)
	case !c.printed:
		return nil
	case !(m.Budget.Delta > 0):
		return errors.New("submodular: ORIEL_RATE=printed: needs ORIEL_DELTA, pure ε has no printed rate")
	default:
		m.Draws.MaxEpsilon = printedRate(c.pick, m.Scope.End()/c.every, m.Budget.Epsilon, m.Budget.Delta)
	}
	// A draw by e^{η·q} with gains in [0, 1] has a range of 2η under replacement, and of η under zero-out.
	if !m.Unit.AgainstNull() {
		m.Draws.MaxEpsilon = float64(2 * m.Draws.MaxEpsilon)
	}
	return nil
}

// boundedRate returns the η that minimises the bound of drawsRegret: √(k·u·ln N/(G·T)), at most 1/G. G is the number of
// events between draws, T the total number, and u the largest gain from one element. At G = 1 this is the rate of
// Streeter and Golovin's algorithm without privacy.
func (c operator) boundedRate(m mechanisms.Config) float64 {
	between, events := c.spans(m)
	all := float64(float64(c.pick) * c.function.maxGain(c.pick))
	return min(1/between, math.Sqrt(float64(all*elementary.Log(float64(c.elements)))/float64(between*events)))
}

// spans returns the number of events between draws, and the number of events in the life of a stream.
func (c operator) spans(m mechanisms.Config) (between, events float64) {
	return float64(float64(c.every) * float64(m.Batch)), float64(float64(m.Scope.End()) * float64(m.Batch))
}

// drawsRegret returns a bound on the expected (1−1/e)-regret at the rate eta, for values that do not depend on draws
// (PROOF.md, What draws lack). It returns +Inf if no bound is proved.
func (c operator) drawsRegret(m mechanisms.Config, eta float64) float64 {
	between, events := c.spans(m)
	if eta*between > 1 {
		return math.Inf(1)
	}
	position := elementary.Log(float64(c.elements))/eta + between
	return float64(float64(eta*between)*events) + float64(float64(float64(c.pick)*c.function.maxGain(c.pick))*position)
}

// eta returns the η of a calibration, for gains in [0, 1].
func eta(m mechanisms.Config, p mechanisms.Calibration) float64 {
	return 1 / (p.Scale.Float64() * p.Grid.Unit())
}

// printedRate returns η = ε/(k·√(32T·ln(k/δ))) of Algorithm 2 (FI-DP) of the source paper, for T drawn sets.
func printedRate(pick int, times uint64, epsilon, delta float64) float64 {
	k := float64(pick)
	return epsilon / float64(k*math.Sqrt(float64(32*float64(times))*elementary.Log(k/delta)))
}

// describeDraws describes the contribution, and the bound on regret.
func (c operator) describeDraws(m mechanisms.Config) description.Figures {
	d := description.Figures{
		Draws: true, Mechanisms: []string{mechanisms.ExponentialMechanism},
		Distance: fmt.Sprintf("%d gains in [0, 1]: an exchange moves each of their sums by 1 at most, for all draws to come",
			c.pick*c.elements),
		Steps: fmt.Sprintf("%d of %d elements, each drawn with a chance that grows by e^η with each unit of gain, and perhaps twice",
			c.pick, c.elements),
	}
	if p, err := mechanisms.Calibrate(m); err == nil {
		rate := eta(m, p)
		d.Steps += fmt.Sprintf("; η = %.4g", rate)
		if _, events := c.spans(m); c.drawsRegret(m, rate) < events {
			d.Steps += fmt.Sprintf(": %.4g events lack at most %.4g of 1 − 1/e of the best set, in the mean", events, c.drawsRegret(m, rate))
		} else {
			d.Steps += ", of which no bound says anything here"
		}
	}
	return d
}

// drawsRule draws elements by exponential weights from sums of gains that are never released: Algorithm 2 (FI-DP) of
// the source paper.
type drawsRule struct{ marginalGains }

// decide draws the element of each position with probabilities from the total gain that each element would have had
// there, given the sets that were published. An element that is drawn twice appears twice.
func (d *drawsRule) decide(stream *mechanisms.Stream) {
	for i := range d.set {
		d.set[i] = stream.Draw(i*d.elements, (i+1)*d.elements)
	}
}

// strength returns H of ORIEL_RATE=printed: the regulariser of a leader, for each event. The source paper takes H from
// private follow-the-approximate-leader, for noise of any law: L/R·√(N·ln^{2.5}T/(ε·T)). L bounds the norm of gains and
// is half of the sensitivity of a leader's gains. R bounds the norm of points, and T is the number of events. Each of K
// leaders has ε/√K, because all are in one release. H is at least L/(R·√T), its value without privacy.
func (c operator) strength(m mechanisms.Config) float64 {
	n, events, leaders, radius := float64(c.elements), eventsOf(m), float64(c.pick), 1.0
	if c.rule == byShares {
		leaders, radius = float64(c.copiesOf(m)), math.Sqrt(leaders)
	}
	ln := elementary.Log(events)
	big := float64(n*ln) * float64(ln*math.Sqrt(ln)) * math.Sqrt(leaders) / m.Budget.Epsilon
	far := math.Sqrt(n)
	if c.norm > 0 {
		far = float64(math.Sqrt2 * c.norm)
	}
	return float64(far / (2 * radius) * math.Sqrt(max(big, 1)/events))
}

// leadersRule holds k experts, each a point of the simplex that is a function of releases. A draw from it costs no
// privacy.
type leadersRule struct {
	marginalGains
	regulariser
	projection    convex.Projection
	probabilities []float64
	scaled        []float64
	scores        []int64 // scores of the elements with positive probability
	support       []int   // the elements with positive probability
}

func newLeaders(gains marginalGains, r regulariser) (*leadersRule, error) {
	n := gains.elements
	projection, err := newProjection(catalogue.Spec{Name: "simplex", Dimension: n, Radius: 1})
	return &leadersRule{
		marginalGains: gains, regulariser: r, projection: projection, probabilities: make([]float64, n),
		scaled: make([]float64, n), scores: make([]int64, 0, n), support: make([]int, 0, n),
	}, err
}

// decide draws the element of each position from Π(ĝ/Λ_n) on the simplex, where ĝ are the position's sums of gains that
// decisions follow. An element of probability 0 is never drawn, because the projection of Duchi and others is exact.
// After the last step of a stream draws are no longer possible, and decide takes the most probable elements. An element
// that is already in the set is replaced by the best other element, which gains at least as much. Under params with
// repeats, as in the paper, it appears twice.
func (l *leadersRule) decide(stream *mechanisms.Stream) {
	by := l.at(l.weight(stream))
	for i := range l.set {
		sums := l.followed(stream, i)
		element := l.draw(stream, sums, by)
		if !l.printed && slices.Contains(l.set[:i], element) {
			element = bestOther(sums, l.set[:i])
		}
		l.set[i] = element
	}
}

// weight returns n: the number of events so far or, with a memory, their total weight.
func (c operator) weight(stream *mechanisms.Stream) float64 {
	return float64(mechanisms.Weight(c.terms.Scope, stream.Step()) * float64(c.batch))
}

func (l *leadersRule) draw(stream *mechanisms.Stream, sum []float64, by float64) int {
	for a, g := range sum {
		l.scaled[a] = g / by
	}
	l.projection.Project(l.probabilities, l.scaled)
	l.scores, l.support = l.scores[:0], l.support[:0]
	best := 0
	for a, p := range l.probabilities {
		if p > l.probabilities[best] {
			best = a
		}
		if p > 0 {
			l.support = append(l.support, a)
			l.scores = append(l.scores, operators.ProbabilityScore(p))
		}
	}
	if stream.Ended() {
		return best
	}
	return l.support[stream.Choose(0, l.scores, operators.ByProbabilities)]
}
