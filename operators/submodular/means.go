package submodular

import "oriel/operators"

// meansShare says how far back means reach: over the newest 1/24 of what sums hold, mostly (SPEC.md, Means). What all
// elements lack in a mean alike moves no set.
const meansShare = 24

// averages reports whether new deployments follow means: with the bounded rate, which has a proof for the newest sums,
// and as printed they do not.
func (c operator) averages() bool {
	return c.rule == byArgmax || c.rule == byLeaders && !c.bounded && !c.printed
}

// newMeans returns those before the first step; nil if the plan follows the newest sums.
func (c operator) newMeans(p params) *operators.Means {
	if !p.means {
		return nil
	}
	return operators.NewMeans(c.terms.Scope, meansShare, c.pick*c.elements)
}
