package loss

import (
	"math"

	"oriel/operators/elementary"
	"oriel/schemas/event"
)

// Linear is ℓ(x) = ⟨a, x⟩, for events that contain a cost or a gradient.
type Linear struct{}

// Gradient writes w·a; it does not depend on x.
func (Linear) Gradient(dst, x []float64, e event.Event) bool {
	_, ok := inner(e.Vector, x)
	return ok && valid(e.Weight) && scaled(dst, e.Weight, e.Vector)
}

// Value returns w·⟨a, x⟩.
func (Linear) Value(x []float64, e event.Event) float64 {
	m, ok := inner(e.Vector, x)
	if !ok || !valid(e.Weight) {
		return math.NaN()
	}
	return float64(e.Weight * m)
}

// Portfolio is ℓ(x) = −log⟨x, r⟩, where r are the price relatives of one period: minus the log growth of the wealth
// held as x.
type Portfolio struct{}

// Gradient writes −w·r/⟨x,r⟩. It is undefined if the wealth would not be positive.
func (Portfolio) Gradient(dst, x []float64, e event.Event) bool {
	m, ok := inner(e.Vector, x)
	if !ok || !valid(e.Weight) || !(m > 0 && m <= math.MaxFloat64) {
		return false
	}
	return scaled(dst, -e.Weight/m, e.Vector)
}

// Value returns −w·log⟨x,r⟩.
func (Portfolio) Value(x []float64, e event.Event) float64 {
	m, ok := inner(e.Vector, x)
	if !ok || !valid(e.Weight) || !(m > 0 && m <= math.MaxFloat64) {
		return math.NaN()
	}
	return float64(-e.Weight * elementary.Log(m))
}
