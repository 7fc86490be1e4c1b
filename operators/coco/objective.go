package coco

import (
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/protection"
)

// objective is the public part of Ĵ_t, the function that Algorithms 1 and 2 minimise over the set:
//
//	Ĵ_t(x) = ⟨ĝ_t, x⟩ + (µB/2)·Σ_{τ≤t}|x − o_τ|² + (λ_0/2)|x|²
//
// or, where the stream's sums decay by γ a step, with γ^{t−τ} in the sum over τ, and g_t = Σ γ^{t−τ} of step τ (SPEC.md
// §5.2); with o_τ = x_τ where the losses are strongly convex themselves, and o_τ = 0 under the regulariser of SPEC.md
// §5.1.
type objective struct {
	convexity float64          // µB, of one step
	start     float64          // λ_0
	scope     protection.Scope // of the stream
	decisions []float64        // S = Σ_{τ≤t} x_τ, nil where o_τ = 0, and for descent, which has it in x_t

	past *inherited // what an earlier life of the stream has left (SPEC.md §5.3), nil: nothing
}

// inherited is −g_0 and its weight N_0.
type inherited struct {
	gradient []float64
	weight   float64
}

// follow lets a stream of n coordinates start where an earlier life has ended.
func (o *objective) follow(p Inherited) {
	o.past = &inherited{slices.Clone(p.Point), p.Weight}
	curvature := o.curvature(0)
	for i := range o.past.gradient {
		o.past.gradient[i] = float64(o.past.gradient[i] * curvature)
	}
}

// curvature is the strong convexity of Ĵ_t: µB·t + λ_0, or µB·N_t + λ_0 with N_t = Σ γ^{t−τ}. t is exact up to 2^53
// steps.
func (o *objective) curvature(t uint64) float64 {
	weight := mechanisms.Weight(o.scope, t)
	if o.past != nil {
		weight += float64(o.left(t) * o.past.weight)
	}
	return float64(o.convexity*weight) + o.start
}

// left is what decaying sums keep of the past after t steps.
func (o *objective) left(t uint64) float64 {
	memory, _ := o.scope.Memory()
	return decay.Left(memory, t)
}

// addDecision counts the decision that the closing step's events saw.
func (o *objective) addDecision(x []float64) {
	for i := range o.decisions {
		o.decisions[i] += x[i]
	}
}

// pull writes the constant part of −∇Ĵ_t: µB·S − ĝ_t, and −γ^t·g_0 where there is a past.
func (o *objective) pull(t uint64, dst, sum []float64) {
	for i, g := range sum {
		dst[i] = -g
	}
	for i, s := range o.decisions {
		dst[i] += float64(o.convexity * s)
	}
	if o.past == nil {
		return
	}
	left := o.left(t)
	for i, g := range o.past.gradient {
		dst[i] += float64(left * g)
	}
}
