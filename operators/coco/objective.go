package coco

import "oriel/mechanisms/forget"

// objective is the public part of Ĵ_t, the function that Algorithms 1 and 2 minimise over the set:
//
//	Ĵ_t(x) = ⟨ĝ_t, x⟩ + (µB/2)·Σ_{τ≤t}|x − o_τ|² + (λ_0/2)|x|²
//
// or, where the stream's sums decay by γ a step, with γ^{t−τ} in the sum over τ, and g_t = Σ γ^{t−τ} of step τ (SPEC.md
// §5.2); with o_τ = x_τ where the losses are strongly convex themselves, and o_τ = 0 under the regulariser of SPEC.md
// §5.1.
type objective struct {
	convexity float64   // µB, of one step
	start     float64   // λ_0
	memory    uint64    // H of the stream; 0: nothing decays
	plays     []float64 // S = Σ_{τ≤t} x_τ, nil where o_τ = 0, and for descent, which has it in x_t
}

// curvature is the strong convexity of Ĵ_t: µB·t + λ_0, or µB·N_t + λ_0 with N_t = Σ γ^{t−τ}. t is exact up to 2^53
// steps.
func (o *objective) curvature(t uint64) float64 {
	if o.memory > 0 {
		return float64(o.convexity*forget.Weight(o.memory, t)) + o.start
	}
	return float64(o.convexity*float64(t)) + o.start
}

// played counts the decision that the closing step's events saw.
func (o *objective) played(x []float64) {
	for i := range o.plays {
		o.plays[i] += x[i]
	}
}

// pull writes the constant part of −∇Ĵ_t: µB·S − ĝ_t.
func (o *objective) pull(dst, sum []float64) {
	for i, g := range sum {
		dst[i] = -g
	}
	for i, s := range o.plays {
		dst[i] += float64(o.convexity * s)
	}
}
