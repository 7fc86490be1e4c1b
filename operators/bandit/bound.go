package bandit

import (
	"fmt"
	"math"
)

// regretBound is Theorem 1 of SPEC.md without its noise: an upper bound on the mean regret of an action to the best
// point of the set, over total actions.
func (c Config) regretBound(e Episode, total float64) float64 {
	shape, diameter, records := c.geometry(), c.Set.Diameter(), float64(c.Actions.Records)
	norm := float64(shape.dimension) * (c.Losses.High - c.Losses.Low) / e.Smoothing // largest norm of a contribution
	out := diameter*diameter/(2*e.Rate*total) +
		e.Rate*float64(c.Actions.Delay+1)*(norm*norm+records*c.Lipschitz*c.Lipschitz) + c.Lipschitz*3*e.Smoothing
	out += c.Lipschitz * c.centreError()
	if c.Shrink {
		out += c.Lipschitz * (e.Smoothing/shape.radius + margin) * diameter
	}
	return out
}

// centreError bounds the distance of a centre from the exact one. The bound does not hold if a precision needs more
// linear minimisations than are allowed.
func (c Config) centreError() float64 {
	switch {
	case c.Projected:
		return 0
	case c.Precision > 0:
		return c.Precision
	}
	return c.Set.Diameter() / math.Sqrt(float64(c.Actions.Records))
}

// regret describes the proved bound for a run whose length is known. It returns "" if the length is unknown.
func (c Config) regret() string {
	if c.Rounds == 0 || c.Doubling {
		return ""
	}
	total := float64(c.Rounds) * float64(c.Actions.Records)
	e := c.episode(total)
	most := min(c.Losses.High-c.Losses.Low, c.Lipschitz*c.Set.Diameter()) // largest regret of one action
	bound := c.regretBound(e, total)
	text := fmt.Sprintf(". If losses are convex, and change by at most %g over a length of 1, it is proved of %.3g plays that their mean cost "+
		"is at most %.3g above the cost of the best point, plus %.3g times the noise of a release (rms of the vector)",
		c.Lipschitz, total, bound, c.Lipschitz*e.Rate*c.gain(c.NewParams(), e))
	if bound < most {
		return text
	}
	text += fmt.Sprintf(". No play costs more than %.3g above the best point anyway, so that this bound says nothing", most)
	if c.Smoothing > 0 || c.Rate > 0 {
		return text + " at this length"
	}
	informative := func(total float64) bool { return c.regretBound(c.episode(total), total) < most }
	for high := 2 * total; high < 0x1p80; high *= 2 {
		if !informative(high) {
			continue
		}
		low := high / 2
		for high/low > 1.001 {
			if middle := math.Sqrt(low * high); informative(middle) {
				high = middle
			} else {
				low = middle
			}
		}
		return text + fmt.Sprintf(" before some %.2g plays", high)
	}
	return text + " at any length: the batch is too small"
}
