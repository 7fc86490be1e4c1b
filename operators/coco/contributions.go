package coco

import (
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// Rules by which a contribution is bounded. A plan stores which, so that a deployment keeps the one it was opened with.
const (
	ruleClip   = 0 // the ball of the clip around zero: 2L, or L against the null event
	ruleCentre = 1 // the ball around a centre that the decision gives: its diameter
	ruleNorm   = 2 // the ball around zero of the longest gradient that the loss has
)

// Contributions is what a plan says of contributions.
type Contributions struct {
	Rule   uint8
	Pull   float64 // the centre at the decision x is Pull·x + Offset, in the set's directions
	Offset float64
	Radius float64
	Reach  float64 // the largest norm of a centre; 0: there is none
}

// contributions chooses the rule for a mechanism: what moves contributions least. Both rules hold for every event,
// since contributions beyond them are drawn inside; that gradients are inside by themselves is loss/PROOF.md.
func (c Config) contributions(m mechanisms.Config) Contributions {
	if facts, _ := mechanisms.FactsOf(m.Name); facts.Paper {
		return Contributions{}
	}
	b := loss.Bounds{
		Decision: c.Set.MaxNorm(), Dimension: c.Set.Dimension(), Clip: c.Clip,
		Features: c.FeaturesMax, Weight: c.weight(), Label: c.LabelMax,
	}
	l, sharp := loss.ContributionsOf(c.Loss, b)
	switch {
	case !sharp:
		return Contributions{}
	case m.Unit.AgainstNull():
		if !(l.Norm < c.Clip) {
			return Contributions{}
		}
		return Contributions{Rule: ruleNorm, Radius: l.Norm}
	case l.Reach == 0:
		return Contributions{Rule: ruleNorm, Radius: l.Radius}
	}
	return Contributions{Rule: ruleCentre, Pull: l.Pull, Offset: l.Offset, Radius: l.Radius, Reach: l.Reach}
}

// knowsMore reports whether the whole tangent space is smaller than what plans before version 4 project on.
func (c Config) knowsMore() bool {
	whole, err := convex.NewTangent(c.Set)
	return err == nil && whole.Dimension() < convex.EarlierTangent(c.Set).Dimension()
}

// tangent returns the space on which contributions are projected.
func (p Params) tangent(s convex.Set) (convex.Tangent, error) {
	if p.Whole {
		return convex.NewTangent(s)
	}
	return convex.EarlierTangent(s), nil
}

// weight is the largest weight that contributions are bounded for: the one that is set; else 1, or what the clip has
// room for where gradients are no longer than weight times vector.
func (c Config) weight() float64 {
	if c.WeightMax > 0 {
		return c.WeightMax
	}
	if _, squared := c.Loss.(loss.Squared); squared || !(c.FeaturesMax > 0) {
		return 1
	}
	return max(1, c.Clip/c.FeaturesMax)
}

// component is the block of gradients under the rule.
func (l Contributions) component(c Config) contribution.Component {
	n := c.Set.Dimension()
	switch l.Rule {
	case ruleCentre:
		return contribution.Ball{Size: n, Radius: l.Radius, Reach: l.Reach}.Component()
	case ruleNorm:
		return contribution.Component{Size: n, Clip: l.Radius}
	}
	return contribution.Component{Size: n, Clip: c.Clip}
}

// contribution is what a record adds under a plan: a gradient, and behind it marks for a band, if there is one.
func (p Params) contribution(c Config) contribution.Contribution {
	gradient := p.Contributions.component(c)
	if p.Band == (Columns{}) {
		return contribution.Contribution{Components: []contribution.Component{gradient}}
	}
	marks := contribution.Marks{Columns: p.Band.Number}.Component()
	gradient.Name, gradient.Share = "gradient", gradientShare
	marks.Name, marks.Share = "band", p.Band.Share
	return contribution.Contribution{Components: []contribution.Component{gradient, marks}}
}

// entries is how many numbers a record adds in n dimensions.
func (l Contributions) entries(n int) int {
	if l.Rule == ruleCentre {
		return 2 * n
	}
	return n
}

// longest is the norm that no contribution exceeds.
func (l Contributions) longest(c Config) float64 {
	if l.Rule == ruleCentre {
		return max(c.Clip, l.Radius+l.Reach)
	}
	return c.Clip
}

// String tells the rule to people.
func (l Contributions) String() string {
	switch l.Rule {
	case ruleCentre:
		return "the diameter of the loss's gradients, around a centre that the decision gives"
	case ruleNorm:
		return "the longest gradient that the loss has"
	}
	return "the clip"
}
