package submodular

import "oriel/operators"

// meansShare sets how far back means reach: mostly over the newest 1/24 of the weight of sums (SPEC.md, Means).
// Subtracting one number from all elements of a mean changes no set.
const meansShare = 24

// averages reports whether new deployments use means. They do not with the bounded rate, whose proof is for the newest
// sums, and not with the printed rate.
func (c operator) averages() bool {
	return c.rule == byArgmax || c.rule == byLeaders && !c.bounded && !c.printed
}

// newMeans returns the means before the first step, or nil if the plan uses the newest sums.
func (c operator) newMeans(p params) *operators.Means {
	if !p.means {
		return nil
	}
	return operators.NewMeans(c.terms.Scope, meansShare, c.pick*c.elements)
}
