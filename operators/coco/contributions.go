package coco

import (
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/operators/convex"
	"oriel/operators/description"
	"oriel/operators/loss"
)

// These are the rules by which contributions are bounded. Params store their rule, so that a deployment keeps the rule
// it was opened with.
const (
	// Gradients are in a ball of the clip's radius around zero: sensitivity 2L, or L against the null event.
	ruleClip   = 0
	ruleCentre = 1 // gradients are in a ball around a centre that depends on the decision: sensitivity 2·Radius
	ruleNorm   = 2 // contributions are in a ball around zero whose radius is the loss's longest gradient
)

// Contributions is the part of params that bounds contributions.
type Contributions struct {
	Rule   uint8
	Pull   float64 // the ball's centre at the decision x is Pull·x + Offset, projected to the set's tangent space
	Offset float64
	Radius float64
	Reach  float64 // largest norm of a centre; 0: the ball is around zero
}

// contributions chooses the rule with the least sensitivity under a mechanism. Every rule holds for every event,
// because the stream clips contributions to the ball. Contributions of events within the public bounds are in the ball
// already (loss/PROOF.md).
func (c Config) contributions(m mechanisms.Config) Contributions {
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

// tangent returns the space to which contributions are projected: the tangent space of the set, or a coarser one if a
// projection to it would be too expensive for each event.
func (c Config) tangent() convex.Tangent {
	coarse := convex.CoarseTangent(c.Set)
	if whole, err := convex.NewTangent(c.Set); err == nil && whole.Dimension() < coarse.Dimension() {
		return whole
	}
	return coarse
}

// weight returns the largest weight for which contributions are bounded. It is WeightMax if set. Otherwise it is 1 or,
// for losses whose gradients are at most weight times vector, the larger weight that the clip admits.
func (c Config) weight() float64 {
	if c.WeightMax > 0 {
		return c.WeightMax
	}
	if _, squared := c.Loss.(loss.Squared); squared || !(c.FeaturesMax > 0) {
		return 1
	}
	return max(1, c.Clip/c.FeaturesMax)
}

// component returns the component of gradients under the rule.
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

// contribution returns the contribution of a record under params: a gradient and, if there is a band, marks after it.
func (p Params) contribution(c Config) contribution.Contribution {
	return p.Band.Beside(p.Contributions.component(c))
}

// entries returns how many numbers a record adds: the gradient in n dimensions and, under ruleCentre, the centre.
func (l Contributions) entries(n int) int {
	if l.Rule == ruleCentre {
		return 2 * n
	}
	return n
}

// longest returns a bound on the norm of every contribution.
func (l Contributions) longest(c Config) float64 {
	if l.Rule == ruleCentre {
		return max(c.Clip, l.Radius+l.Reach)
	}
	return c.Clip
}

// String describes the rule in words.
func (l Contributions) String() string {
	switch l.Rule {
	case ruleCentre:
		return "the diameter of the loss's gradients, around a centre that the decision gives"
	case ruleNorm:
		return "the longest gradient that the loss has"
	}
	return "the clip"
}

// Costs describes the costs of the linear loss under new params. It returns nil for other losses.
func (c operator) Costs() *description.Costs {
	if _, linear := c.Loss.(loss.Linear); !linear {
		return nil
	}
	n, tangent := c.Set.Dimension(), c.tangent()
	ones := slices.Repeat([]float64{1}, n)
	tangent.Project(ones)
	costs := &description.Costs{Coordinates: n, Directions: tangent.Dimension(), Ones: lattice.Norm(ones)}
	if _, err := convex.NewTangent(c.Set); err != nil {
		costs.Reason = err.Error()
	}
	return costs
}
