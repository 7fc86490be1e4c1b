package loss

import (
	"math"

	"oriel/operators/elementary"
	"oriel/schemas/event"
)

// Logistic is ℓ(x) = log(1 + e^{−y⟨a,x⟩}), y ∈ {−1, 1}.
type Logistic struct{}

// Gradient writes −w·y·σ(−y⟨a,x⟩)·a with σ(z) = 1/(1+e^{−z}). The exponential is taken of −|z| only, so that it
// saturates at 0 and never overflows.
func (Logistic) Gradient(dst, x []float64, e event.Event) bool {
	m, ok := inner(e.Vector, x)
	if !ok || !class(e.Label) || !valid(e.Weight) || m != m {
		return false
	}
	z := float64(e.Label * m)
	u := elementary.Exp(-math.Abs(z))
	slope := 1 / (1 + u)
	if z > 0 {
		slope = u / (1 + u)
	}
	return scaled(dst, float64(-e.Label*slope*e.Weight), e.Vector)
}

// Value returns w·log(1 + e^{−z}) = w·(max(−z, 0) + log1p(e^{−|z|})), z = y⟨a,x⟩.
func (Logistic) Value(x []float64, e event.Event) float64 {
	m, ok := inner(e.Vector, x)
	if !ok || !class(e.Label) || !valid(e.Weight) {
		return math.NaN()
	}
	z := float64(e.Label * m)
	return float64(e.Weight * (max(-z, 0) + elementary.Log1p(elementary.Exp(-math.Abs(z)))))
}

// Hinge is ℓ(x) = max(0, 1 − y⟨a,x⟩), y ∈ {−1, 1}.
type Hinge struct{}

// Gradient writes −w·y·a where y⟨a,x⟩ < 1, and zero elsewhere.
func (Hinge) Gradient(dst, x []float64, e event.Event) bool {
	m, ok := inner(e.Vector, x)
	if !ok || !class(e.Label) || !valid(e.Weight) || m != m {
		return false
	}
	slope := 0.0
	if e.Label*m < 1 {
		slope = -e.Label
	}
	return scaled(dst, float64(slope*e.Weight), e.Vector)
}

// Value returns w·max(0, 1 − y⟨a,x⟩).
func (Hinge) Value(x []float64, e event.Event) float64 {
	m, ok := inner(e.Vector, x)
	if !ok || !class(e.Label) || !valid(e.Weight) {
		return math.NaN()
	}
	return float64(e.Weight * max(0, 1-float64(e.Label*m)))
}
