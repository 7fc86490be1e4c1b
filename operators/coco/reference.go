package coco

import (
	"fmt"
	"slices"

	"oriel/operators"
	"oriel/operators/coco/band"
	"oriel/operators/convex"
	"oriel/operators/loss"
	"oriel/schemas/event"
)

// reference is the operators.ReferenceModel of a machine that publishes every decision. A record contributes the
// gradient of its loss at the newest decision before it.
type reference struct {
	operators.OneRecord
	config        Config
	members       *members
	tangent       convex.Tangent
	contributions Contributions
	first         []float64 // the stream's first decision, x_1
	decision      []float64
	band          band.Reference
}

func (t *reference) Begin() {
	copy(t.decision, t.first)
	t.band.Begin()
}

func (t *reference) Observe(decisions []operators.Decision) {
	for _, d := range decisions {
		copy(t.decision, d.Point)
		if t.config.Band.Level > 0 {
			t.band.Observe(t.members.band, d.Extras)
		}
	}
}

func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	dst, columns := t.split(dst)
	gradient, centre := dst[:len(t.decision)], dst[len(t.decision):]
	if r.Null || !t.config.Loss.Gradient(gradient, t.decision, r.Event) {
		return false
	}
	t.band.Contribution(columns, t.decision, r.Event)
	t.tangent.Project(gradient)
	if len(centre) > 0 {
		for i, x := range t.decision {
			centre[i] = t.contributions.Offset + float64(t.contributions.Pull*x)
		}
		t.tangent.Project(centre)
	}
	return true
}

func (t *reference) Tangent(u []float64) {
	u, _ = t.split(u)
	t.tangent.Project(u[:len(t.decision)])
	clear(u[len(t.decision):]) // the entries of the centre have no direction
}

// split separates the entries of gradient and centre from the columns of a band.
func (t *reference) split(v []float64) (gradient, columns []float64) {
	at := len(v) - t.config.marks()
	return v[:at], v[at:]
}

func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	first, second := canaries(t.config, u[:len(t.decision)])
	t.config.Band.Beyond(t.config.Loss, &first, &second)
	first.Weight = float64(first.Weight * factor)
	second.Weight = float64(second.Weight * factor)
	return operators.Record{Event: first}, operators.Record{Event: second}
}

// canaries returns two events whose gradients are longer than the clip at every decision of the set, and point along u
// and −u. With |x| ≤ M:
//
//	linear             ±u itself
//	logistic           features u/M, so |⟨a, x⟩| ≤ 1 and the slope is at least 1/(1 + e); the label gives the sign
//	hinge              features u/2M, inside the margin at every x
//	squared, absolute  features u/M, label ∓2: a residual of at least 1
//	quantile           as for absolute, with slope −τ or 1−τ
//	portfolio          price relatives u plus a constant, which is orthogonal to the simplex; ⟨x, r⟩ is between 1 and the
//	                   largest entry of r, times the scale
func canaries(c Config, u []float64) (with, without event.Event) {
	reach, clip := c.Set.MaxNorm(), c.Clip
	ev := func(factor, label, slope float64) event.Event {
		values := make([]float64, len(u))
		for i, x := range u {
			values[i] = float64(factor * x)
		}
		length := float64(max(factor, -factor) * slope) // length of the gradient without its weight
		weight := float64(operators.CanaryFactor * max(1, clip/length))
		return event.Event{Vector: event.Vector{Values: values}, Label: label, Weight: weight}
	}
	switch l := c.Loss.(type) {
	case loss.Linear:
		return ev(float64(operators.CanaryFactor*clip), 0, 1), ev(float64(-operators.CanaryFactor*clip), 0, 1)
	case loss.Logistic:
		return ev(1/reach, -1, 0.25), ev(1/reach, 1, 0.25)
	case loss.Hinge:
		return ev(0.5/reach, -1, 1), ev(0.5/reach, 1, 1)
	case loss.Squared, loss.Absolute:
		return ev(1/reach, -2, 1), ev(1/reach, 2, 1)
	case loss.Quantile:
		return ev(1/reach, -2, 1-l.Tau), ev(1/reach, 2, l.Tau)
	case loss.Portfolio:
		with, without = ev(-1, 0, 1), ev(1, 0, 1) // the gradient is −r/⟨x, r⟩
		for _, e := range []*event.Event{&with, &without} {
			least := slices.Min(e.Vector.Values)
			for i := range e.Vector.Values {
				e.Vector.Values[i] += 1 - least
			}
			e.Weight = float64(operators.CanaryFactor * max(1, float64(clip*reach*slices.Max(e.Vector.Values))))
		}
		return with, without
	}
	panic(fmt.Sprintf("BUG: coco: no canary for the loss %T", c.Loss))
}
