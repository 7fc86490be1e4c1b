package coco

import "math"

// constants are those of Algorithm 2 for a step of B events, all from +, −, ·, / and square roots. ε_t = C_1²/b_t
// appears only through √(2ε_t/b_t) = √2·C_1/b_t.
type constants struct {
	alpha     float64 // α = 1/(2ρ²)
	anchor    float64 // µB·C_0, C_0 = 25ρ²
	gradient  float64 // BG
	reach     float64 // C_1
	objective *objective
}

// newConstants takes ρ, B, E of the stream and C_W of the plan.
//
// Proved: C_1 = 10(ρ²·BG + ρE), any B (SPEC.md §11 with a step as the round). Paper: Printed.Reach.
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

// curvature is b_t = µB(t + C_0) + λ_0, the strong convexity of Ĵ_t with its anchor at x_1. λ_0 acts like a larger C_0.
func (k *constants) curvature(t uint64) float64 { return k.objective.curvature(t) + k.anchor }

// radius is r_t = √(2ε_{t−1}/b_{t−1}) + 2BG/b_t, the first term absent at t = 1. The paper prints index t in it; the
// proof bounds |x_t − z_t| by what step t−1 has left, so t−1 it is.
func (k *constants) radius(t uint64) float64 {
	r := 2 * k.gradient / k.curvature(t)
	if t > 1 {
		r += float64(math.Sqrt(2)*k.reach) / k.curvature(t-1)
	}
	return r
}
