package ridge

import (
	"math"

	"oriel/operators"
	"oriel/schemas/event"
)

// reference implements operators.ReferenceModel for a machine that publishes every decision.
type reference struct {
	operators.OneRecord
	operator
	decision []float64
}

func newReference(c operator) *reference {
	return &reference{operator: c, decision: make([]float64, c.rows.Features)}
}

func (t *reference) Begin() { clear(t.decision) }

func (t *reference) Observe(decisions []operators.Decision) {
	for _, d := range decisions {
		copy(t.decision, d.Point)
	}
}

// Contribution writes the row feature by feature: z of norm at most 1, and the label or residual that is learned, not
// clamped.
func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	d, e := t.rows.Features, r.Event
	if r.Null {
		return false
	}
	x := make([]float64, d)
	for k, value := range e.Vector.Values {
		at := k
		if e.Vector.Indices != nil {
			at = int(e.Vector.Indices[k])
		}
		x[at] = value
	}
	square, largest := 0.0, 0.0
	for _, value := range x {
		largest = max(largest, math.Abs(value))
	}
	for _, value := range x {
		if largest > 0 {
			square += float64(value / largest * (value / largest))
		}
	}
	length := max(t.features, float64(largest*math.Sqrt(square)))
	prediction := t.middle
	for i, value := range x {
		dst[i] = value / length
		prediction += float64(float64(dst[i]*t.decision[i]) * t.features)
	}
	dst[d] = (e.Label - t.middle) / t.half
	if t.innovation {
		dst[d] = (e.Label - prediction) / t.residual
	}
	dst[d] = max(-1, min(1, dst[d]))
	for i := range dst {
		dst[i] = float64(dst[i] * math.Sqrt(min(1, e.Weight)))
	}
	return true
}

// Tangent does nothing, because a canary's direction selects one pair from a list.
func (t *reference) Tangent([]float64) {}

// Canary returns two events whose rows are at the largest distance. Features, labels and weights lie far beyond the
// values to which they are clamped.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	a, b := t.rows.LargestDistance(u)
	d := t.rows.Features
	return t.record(a[:d], a[d], factor), t.record(b[:d], b[d], factor)
}

// record returns an event with features z and a label far beyond the end of its range on the given side.
func (t *reference) record(z []float64, side, factor float64) operators.Record {
	beyond := float64(operators.CanaryFactor * factor)
	values := make([]float64, len(z))
	for i, x := range z {
		values[i] = float64(float64(x*t.features) * beyond)
	}
	// reach puts the label beyond every prediction of weights of the largest norm.
	reach := float64((2 + t.maxWeights) * t.half * beyond * max(1, t.residual/t.half))
	return operators.Record{Event: event.Event{
		Vector: event.Vector{Values: values}, Label: t.middle + float64(side*reach), Weight: beyond,
	}}
}
