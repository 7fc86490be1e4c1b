package loss

import (
	"math"

	"oriel/schemas/event"
)

// Squared is ℓ(x) = ½(y − ⟨a,x⟩)².
type Squared struct{}

// Gradient writes w·(⟨a,x⟩ − y)·a.
func (Squared) Gradient(dst, x []float64, e event.Event) bool {
	m, ok := inner(e.Vector, x)
	return ok && valid(e.Weight) && scaled(dst, float64((m-e.Label)*e.Weight), e.Vector)
}

// Value returns w·½(y − ⟨a,x⟩)².
func (Squared) Value(x []float64, e event.Event) float64 {
	m, ok := inner(e.Vector, x)
	if !ok || !valid(e.Weight) {
		return math.NaN()
	}
	r := e.Label - m
	return float64(e.Weight * (0.5 * r * r))
}

// Absolute is ℓ(x) = |y − ⟨a,x⟩|.
type Absolute struct{}

// Gradient writes w·sign(⟨a,x⟩ − y)·a, which is zero if the residual is zero.
func (Absolute) Gradient(dst, x []float64, e event.Event) bool {
	m, ok := inner(e.Vector, x)
	if !ok || !valid(e.Weight) {
		return false
	}
	slope := 0.0
	switch r := m - e.Label; {
	case r > 0:
		slope = 1
	case r < 0:
		slope = -1
	case r != r:
		return false
	}
	return scaled(dst, float64(slope*e.Weight), e.Vector)
}

// Value returns w·|y − ⟨a,x⟩|.
func (Absolute) Value(x []float64, e event.Event) float64 {
	m, ok := inner(e.Vector, x)
	if !ok || !valid(e.Weight) {
		return math.NaN()
	}
	return float64(e.Weight * math.Abs(e.Label-m))
}
