package arms

import (
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/elementary"
)

// exp3UniformRule is exp3 with uniform exploration in place of implicit exploration: in a share of the rounds it draws
// uniformly among all arms. No probability is then small, so that estimates need no bias. Its regret has a bound for
// every middle (SPEC.md, Theorem 3).
type exp3UniformRule struct {
	exp3Rule
	cost float64 // bound on the regret of a round, in units of η·K
}

// largestNoise is the largest scale of the noise in a mean for which Theorem 3 gives a bound, in units of the range of
// losses.
const largestNoise = 0.5

func newExp3Uniform(arms, answers int, n deviation) (*exp3UniformRule, error) {
	beta := n.tail / float64(answers)
	if n.tail == 0 || beta > largestNoise {
		return nil, fmt.Errorf("arms: ORIEL_RULE=%s: %d answers a round under noise of scale %g: takes Laplace noise, and "+
			"ORIEL_BATCH=%g at least", exp3Uniform, answers, n.tail, math.Ceil(n.tail/largestNoise))
	}
	return &exp3UniformRule{exp3Rule: *newExp3(arms, answers, n), cost: roundCost(beta)}, nil
}

// roundCost returns V/2 + 1, where 1 stands for the rounds that explore. V bounds E[Z²e^{|Z|}] for |Z| ≤ 1 + |ξ|, where
// ξ is Laplace noise of scale β < 1. V is ∫(1+t)²e^{1+t}·e^{−t/β}/β dt over t ≥ 0, which with r = 1/β − 1 is e/β·(1/r +
// 2/r² + 2/r³).
func roundCost(beta float64) float64 {
	if beta == 0 {
		return math.E/2 + 1
	}
	r := 1/beta - 1
	return float64(float64(math.E/(2*beta))*(1/r+2/float64(r*r)+2/float64(float64(r*r)*r))) + 1
}

// rate returns η after the rounds learned so far. It is twice the value that minimises the regret bound if no more
// rounds follow: the bound is then a quarter above its minimum, but measured regret was half. η is at most 1/2K, so
// that at most half of the rounds explore.
func (w *exp3UniformRule) rate() float64 {
	k := float64(len(w.losses))
	best := math.Sqrt(elementary.Log(k) / float64(float64(2*float64(w.cost*k))*float64(w.learned+1)))
	return min(float64(2*best), 1/(2*k))
}

// next draws the arm of the next round: uniformly in a share ηK of the rounds, and by exp3 in the others. So no
// probability is below η.
func (w *exp3UniformRule) next(stream *mechanisms.Stream) (int, float64) {
	eta, least, k := w.rate(), slices.Min(w.losses), float64(len(w.losses))
	all := 0.0
	for _, l := range w.losses {
		all += elementary.Exp(-float64(eta * (l - least)))
	}
	for i, l := range w.losses {
		q := float64((1-float64(eta*k))*(elementary.Exp(-float64(eta*(l-least)))/all)) + eta
		w.scores[i] = operators.ProbabilityScore(q)
	}
	return w.draw(stream)
}

// learn adds an unbiased estimate of the loss of the arm that was played, measured from the mean of earlier releases.
func (w *exp3UniformRule) learn(arm int, p float64, answers int, sum float64) {
	if answers == 0 {
		return
	}
	mean := sum / float64(answers)
	w.losses[arm] += (mean - min(max(w.middle, -largest), largest)) / p
	w.learned++
	w.middle += (mean - w.middle) / float64(w.learned)
}
