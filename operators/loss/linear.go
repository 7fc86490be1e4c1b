package loss

import (
	"math"

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
