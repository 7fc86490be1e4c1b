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
// If the stream's sums decay by a factor γ at each step, the sum over τ and g_t have weights γ^{t−τ} (SPEC.md §5.2). If
// the losses are strongly convex themselves, o_τ = x_τ. With the regulariser of SPEC.md §5.1, o_τ = 0.
type objective struct {
	convexity float64          // µB, the strong convexity of one step's loss
	start     float64          // λ_0, the start regulariser
	scope     protection.Scope // scope of the stream, which says whether sums decay
	decisions []float64        // S = Σ_{τ≤t} x_τ. It is nil if o_τ = 0, and for descent, whose x_t includes it

	past *inherited // start from an earlier stream's last decision (SPEC.md §5.3); nil if there is none
}

// inherited is the initial gradient −g_0 and its weight N_0, which replace the sums of an earlier stream.
type inherited struct {
	gradient []float64
	weight   float64
}

// follow makes the stream start at the last decision of an earlier stream.
func (o *objective) follow(p Inherited) {
	o.past = &inherited{slices.Clone(p.Point), p.Weight}
	curvature := o.curvature(0)
	for i := range o.past.gradient {
		o.past.gradient[i] = float64(o.past.gradient[i] * curvature)
	}
}

// curvature returns the strong convexity of Ĵ_t: µB·t + λ_0 or, if sums decay, µB·N_t + λ_0 with N_t = Σ γ^{t−τ}. t is
// exact up to 2^53 steps.
func (o *objective) curvature(t uint64) float64 {
	weight := mechanisms.Weight(o.scope, t)
	if o.past != nil {
		weight += float64(o.left(t) * o.past.weight)
	}
	return float64(o.convexity*weight) + o.start
}

// left returns γ^t, the share of the inherited gradient that decaying sums keep after t steps.
func (o *objective) left(t uint64) float64 {
	memory, _ := o.scope.Memory()
	return decay.Left(memory, t)
}

// addDecision adds the decision at which the gradients of the closing step were computed.
func (o *objective) addDecision(x []float64) {
	for i := range o.decisions {
		o.decisions[i] += x[i]
	}
}

// pull writes the constant part of −∇Ĵ_t: µB·S − ĝ_t, and also −γ^t·g_0 for a stream that continues an earlier one.
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
