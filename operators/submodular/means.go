package submodular

import "oriel/operators"

// meansShare sets how many steps means cover: mostly the newest 1/24 of the weight of the sums (SPEC.md, Means). A mean
// would give the same sets if a constant were subtracted from all its elements.
const meansShare = 24

// averages reports whether sets follow means. They do not with the bounded rate, whose proof requires the
// newest sums, and not with the printed rate.
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
