package loss

import (
	"math"

	"oriel/mechanisms/lattice"
	"oriel/schemas/event"
)

// Predict returns ⟨a, x⟩, or NaN if a and x have different dimensions.
func Predict(x []float64, e event.Event) float64 {
	m, ok := inner(e.Vector, x)
	if !ok {
		return math.NaN()
	}
	return m
}

// Features writes v over dst. It returns false, and leaves dst unspecified, if v does not fit the dimension of dst or
// an entry is not finite.
func Features(dst []float64, v event.Vector) bool {
	_, ok := inner(v, dst)
	return ok && scaled(dst, 1, v)
}

// Normalised writes features divided by longest, or by their norm if that is larger, so that the result has norm at
// most 1.
func Normalised(dst []float64, v event.Vector, longest float64) bool {
	if !Features(dst, v) {
		return false
	}
	by := max(longest, lattice.Norm(dst))
	for i, x := range dst {
		dst[i] = x / by
	}
	return true
}

// inner returns ⟨v, x⟩, and whether v fits the dimension of x. The sum runs in the order of v's values.
func inner(v event.Vector, x []float64) (float64, bool) {
	if v.Indices == nil {
		if len(v.Values) != len(x) {
			return 0, false
		}
		return lattice.Dot(v.Values, x), true
	}
	if len(v.Values) != len(v.Indices) {
		return 0, false
	}
	sum := 0.0
	for k, i := range v.Indices {
		if i < 0 || int(i) >= len(x) {
			return 0, false
		}
		sum += float64(v.Values[k] * x[i])
	}
	return sum, true
}

// scaled writes factor·v over dst and reports whether every entry is finite. inner must have accepted v.
func scaled(dst []float64, factor float64, v event.Vector) bool {
	if v.Indices == nil {
		for i, a := range v.Values {
			dst[i] = float64(factor * a)
		}
	} else {
		clear(dst)
		for k, i := range v.Indices {
			dst[i] += float64(factor * v.Values[k])
		}
	}
	for _, g := range dst {
		if !(math.Abs(g) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}
