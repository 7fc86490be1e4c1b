package loss

import (
	"math"

	"oriel/schemas/event"
)

// Quantile is the pinball loss ℓ(x) = max(τ(y − m), (τ−1)(y − m)), m = ⟨a,x⟩, whose mean is least at the τ-quantile of
// y (Koenker and Bassett, "Regression quantiles", Econometrica 46, 1978).
//
// In one dimension an event may have no vector. Then a is the constant 1, and x is a threshold with a share τ of the
// labels below it.
type Quantile struct {
	Tau float64 // τ, in (0, 1)
}

// constant is the vector (1), which stands for the missing vector of an event.
var constant = event.Vector{Values: []float64{1}}

// vectorOf returns the vector of an event for a point in n dimensions.
func (Quantile) vectorOf(e event.Event, n int) event.Vector {
	if n == 1 && e.Vector.Indices == nil && e.Vector.Values == nil {
		return constant
	}
	return e.Vector
}

// Predict returns ⟨a, x⟩, or NaN if a and x have different dimensions.
func (q Quantile) Predict(x []float64, e event.Event) float64 {
	m, ok := inner(q.vectorOf(e, len(x)), x)
	if !ok {
		return math.NaN()
	}
	return m
}

// Gradient writes w·(1−τ)·a if the label is below m, −w·τ·a if it is above, and zero if it equals m.
func (q Quantile) Gradient(dst, x []float64, e event.Event) bool {
	v := q.vectorOf(e, len(x))
	m, ok := inner(v, x)
	if !ok || !valid(e.Weight) {
		return false
	}
	slope := 0.0
	switch r := m - e.Label; {
	case r > 0:
		slope = 1 - q.Tau
	case r < 0:
		slope = -q.Tau
	case r != r:
		return false
	}
	return scaled(dst, float64(slope*e.Weight), v)
}

// Value returns w·max(τ(y − m), (τ−1)(y − m)).
func (q Quantile) Value(x []float64, e event.Event) float64 {
	m, ok := inner(q.vectorOf(e, len(x)), x)
	if !ok || !valid(e.Weight) {
		return math.NaN()
	}
	r := e.Label - m
	return float64(e.Weight * max(float64(q.Tau*r), float64((q.Tau-1)*r)))
}
