package submodular

import (
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/elementary"
)

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
	projection, err := newProjection(convex.Spec{Name: "simplex", Dimension: n, Radius: 1})
	return &leadersRule{
		marginalGains: gains, regulariser: r, projection: projection, probabilities: make([]float64, n),
		scaled: make([]float64, n), scores: make([]int64, 0, n), support: make([]int, 0, n),
	}, err
}

// decide draws the element of each position from Π(ĝ/Λ_n) on the simplex, where ĝ are the position's sums of gains that
// decisions follow. An element of probability 0 is never drawn, because the projection of Duchi and others is exact.
// After the last step of a stream draws are no longer possible, and decide takes the most probable elements. An element
// that is already in the set is replaced by the best other element, which gains at least as much. Under plans with
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
