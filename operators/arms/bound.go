package arms

import (
	"fmt"
	"math"

	"oriel/mechanisms"
)

// regret describes the proved bounds for `oriel plan`. For ucb it states how many of a million answered actions go to
// an arm whose loss is higher than the best arm's by a tenth of the range. It also states how many actions are
// published before the rule learns from the first of them (SPEC.md §2).
func (c Config) regret(m mechanisms.Config) string {
	out := fmt.Sprintf("a round of %d plays of one arm a step, %s", c.Actions.Actions, c.Actions.Learned())
	facts, _ := mechanisms.FactsOf(m.Name)
	if c.Rule == exp3Uniform && facts.Radial() && c.Actions.Delay == 0 {
		return fmt.Sprintf("%s; a million answered plays cost at most %.3g of the range above the best arm, in the mean", out,
			c.exp3UniformBound(1e6, laplace(m.Unit, m.Budget.Epsilon)))
	}
	if c.Rule != ucb || !facts.Radial() || !(m.Budget.Epsilon > 0) {
		return out
	}
	const gap, horizon = 0.1, 1e6
	n := laplace(m.Unit, m.Budget.Epsilon)
	return fmt.Sprintf("%s; of a million answered plays at most %.0f are of an arm whose loss is %g of the range above the best's, %.0f without noise",
		out, c.actionsBound(gap, horizon, n), gap, c.actionsBound(gap, horizon, deviation{}))
}

// actionsBound is Theorem 2 of SPEC.md. It bounds how many of horizon answered actions go to an arm whose loss exceeds
// the best arm's by gap, if all intervals hold. The bound is the N with N·gap/2 = √(2·V·N·x) + c·x, plus the actions of
// the open rounds.
func (c Config) actionsBound(gap, horizon float64, n deviation) float64 {
	records := float64(c.Actions.Records)
	x := c.Width * math.Log(horizon)
	v := 0.25 + n.variance/records
	root := (math.Sqrt(2*v*x) + math.Sqrt(2*v*x+2*gap*n.tail*x)) / gap
	return root*root + records*float64(c.Actions.Delay+1)
}

// exp3UniformBound is Theorem 3 of SPEC.md: it bounds the expected regret of horizon answered actions to the best arm,
// in units of the range of losses.
func (c Config) exp3UniformBound(horizon float64, n deviation) float64 {
	w, err := newExp3Uniform(len(c.Arms), c.Actions.Records, n)
	if err != nil {
		return math.Inf(1)
	}
	k, records, sum := float64(len(c.Arms)), float64(c.Actions.Records), 0.0
	for w.learned = 0; float64(w.learned)*records < horizon; w.learned++ {
		eta := w.rate()
		sum += eta * k * ((w.cost-1)/(1-eta*k) + 1)
	}
	return records*(math.Log(k)/w.rate()+sum) + horizon*0x1p-18
}
