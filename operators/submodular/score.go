package submodular

import (
	"math"
	"slices"

	"oriel/operators"
	"oriel/schemas/event"
)

// Score is 1 − f(S), the value that an event misses compared with the largest possible value of a set. Before the first
// published set it uses the initial set.
func (c operator) Score() *operators.Score {
	table := c.table()
	s := &operators.Score{Loss: func(x []float64, e event.Event) float64 { return c.missed(table, x, e) }}
	first := c.first(table)
	if c.rule == byShares {
		s.Start = make([]float64, c.elements)
		for _, element := range first {
			s.Start[element] = 1
		}
		return s
	}
	for _, element := range first {
		s.Start = append(s.Start, float64(element))
	}
	return s
}

// missed returns 1 − f(S) for an event, or NaN if the event is unusable.
func (c operator) missed(table, set []float64, e event.Event) float64 {
	v := e.Vector
	if len(c.types) > 0 {
		j := c.typeOf(e)
		if j < 0 {
			return math.NaN()
		}
		v = event.Vector{Values: table[j*c.elements:][:c.elements]}
	}
	if c.rule == byShares {
		values := make([]float64, c.elements)
		for a := range values {
			if values[a] = max(0, min(1, valueAt(v, a))); math.IsNaN(values[a]) {
				return math.NaN()
			}
		}
		return 1 - c.extension(set, values)
	}
	value := 0.0
	for i, element := range set {
		if slices.Contains(set[:i], element) {
			continue // a repeated element adds nothing
		}
		value = c.function.with(value, max(0, min(1, valueAt(v, int(element)))), c.pick)
	}
	return 1 - value
}

// valueAt returns a coordinate of a vector, or NaN if the vector has none there.
func valueAt(v event.Vector, at int) float64 {
	if v.Indices == nil {
		if at >= len(v.Values) {
			return math.NaN()
		}
		return v.Values[at]
	}
	for k, index := range v.Indices {
		if int(index) == at {
			return v.Values[k]
		}
	}
	return 0
}
