package arms

import (
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/elementary"
)

// exp3UniformRule is exp3 with a share of rounds that have any arm, all alike, in place of implicit exploration: no
// probability is small, so that estimates need no bias, and its regret is bounded whatever the middle is (SPEC.md,
// Theorem 3).
type exp3UniformRule struct {
	exp3Rule
	cost float64 // what a round adds to regret, in units of η·K, at most
}

// largestNoise is the scale of noise in a mean up to which Theorem 3 says something, in units of the range of losses.
const largestNoise = 0.5

func newExp3Uniform(arms, answers int, n deviation) (*exp3UniformRule, error) {
	beta := n.tail / float64(answers)
	if n.tail == 0 || beta > largestNoise {
		return nil, fmt.Errorf("arms: ORIEL_RULE=%s: %d answers a round under noise of scale %g: takes Laplace noise, and "+
			"ORIEL_BATCH=%g at least", exp3Uniform, answers, n.tail, math.Ceil(n.tail/largestNoise))
	}
	return &exp3UniformRule{exp3Rule: *newExp3(arms, answers, n), cost: roundCost(beta)}, nil
}

// roundCost is V/2 + 1: V ≥ E[Z²e^{|Z|}] for |Z| ≤ 1 + |ξ|, ξ Laplace noise of scale β < 1: ∫(1+t)²e^{1+t}·e^{−t/β}/β
// dt over t ≥ 0, which with r = 1/β − 1 is e/β·(1/r + 2/r² + 2/r³); and 1 for the rounds that explore.
func roundCost(beta float64) float64 {
	if beta == 0 {
		return math.E/2 + 1
	}
	r := 1/beta - 1
	return float64(float64(math.E/(2*beta))*(1/r+2/float64(r*r)+2/float64(float64(r*r)*r))) + 1
}

// rate is η after so many rounds: twice what bounds regret best if there are no more, for a bound that is a quarter
// above the best, and half of the regret that was measured then; and 1/2K at most, so that half of all rounds at most
// explore.
func (w *exp3UniformRule) rate() float64 {
	k := float64(len(w.losses))
	best := math.Sqrt(elementary.Log(k) / float64(float64(2*float64(w.cost*k))*float64(w.learned+1)))
	return min(float64(2*best), 1/(2*k))
}

// next draws an arm: of a share ηK of rounds any, of the others one by exp3. So no probability is below η.
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

// learn estimates what the arm has cost about the mean of what was released before, without bias.
func (w *exp3UniformRule) learn(arm int, chance float64, answers int, sum float64) {
	if answers == 0 {
		return
	}
	mean := sum / float64(answers)
	w.losses[arm] += (mean - min(max(w.middle, -largest), largest)) / chance
	w.learned++
	w.middle += (mean - w.middle) / float64(w.learned)
}
