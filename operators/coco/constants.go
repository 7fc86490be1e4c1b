package coco

import "math"

// constants holds the constants of Algorithm 2 for a step of B events. They are computed with +, −, ·, / and square
// roots only, so that they are equal on every machine. ε_t = C_1²/b_t appears only in √(2ε_t/b_t) = √2·C_1/b_t.
type constants struct {
	alpha     float64 // the step length α = 1/(2ρ²)
	anchor    float64 // µB·C_0 with C_0 = 25ρ², the strength of the anchor at x_1
	gradient  float64 // BG, the bound on the gradient of a step
	reach     float64 // C_1, which bounds the error ε_t = C_1²/b_t
	objective *objective
}

// newConstants computes the constants from ρ = ratio, B = batch, E = bound and C_W = cw, which the plan stores.
//
// If they are proved, C_1 = 10(ρ²·BG + ρE) for any B (SPEC.md §11 with a step as the round). If they are a paper's, C_1
// is Printed.Reach.
func newConstants(c Config, o *objective, ratio float64, batch uint64, bound, cw float64) constants {
	square := float64(ratio * ratio)
	b, g := float64(batch), c.GradientBound()
	k := constants{
		alpha:     1 / (2 * square),
		anchor:    float64(o.convexity * 25 * square),
		gradient:  float64(b * g),
		objective: o,
	}
	if c.Constants == Paper {
		k.reach = c.Printed.Reach(ratio, g, b, cw)
	} else {
		k.reach = float64(10 * (float64(square*k.gradient) + float64(ratio*bound)))
	}
	return k
}

// curvature returns b_t = µB(t + C_0) + λ_0, the strong convexity of Ĵ_t including its anchor at x_1. λ_0 has the
// effect of a larger C_0.
func (k *constants) curvature(t uint64) float64 { return k.objective.curvature(t) + k.anchor }

// radius returns r_t = √(2ε_{t−1}/b_{t−1}) + 2BG/b_t, without the first term at t = 1. The paper prints t as the index
// in the first term. The index must be t−1, because the proof bounds |x_t − z_t| by the error ε_{t−1} that step t−1 has
// left.
func (k *constants) radius(t uint64) float64 {
	r := 2 * k.gradient / k.curvature(t)
	if t > 1 {
		r += float64(math.Sqrt(2)*k.reach) / k.curvature(t-1)
	}
	return r
}
