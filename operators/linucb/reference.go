package linucb

import (
	"math"

	"oriel/operators"
	"oriel/schemas/event"
)

// reference implements operators.ReferenceModel for logged events: the contribution of a record does not depend on
// decisions.
type reference struct {
	operators.Stateless // Tangent of Stateless does nothing: a canary's direction selects one pair from a list
	operator
}

// Contribution writes z and y and, if there are several blocks, the block.
func (t reference) Contribution(dst []float64, r operators.Record) bool {
	d, e := t.rows.Features, r.Event
	if r.Null || len(e.Numbers) != 2 || e.Numbers[1] == noReward || len(e.Vector.Values) == 0 {
		return false
	}
	row, choice := dst[len(dst)-d-1:], int(e.Numbers[0])
	if choice < 0 || choice >= t.choices() {
		return false
	}
	clear(dst)
	for k, x := range e.Vector.Values {
		at := k
		if e.Vector.Indices != nil {
			at = int(e.Vector.Indices[k])
		}
		if t.candidates > 0 {
			if at/d != choice {
				continue
			}
			at %= d
		}
		row[at] = x
	}
	largest, square := 0.0, 0.0
	for _, x := range row[:d] {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 && t.candidates > 0 {
		return false
	}
	length := t.features
	if largest > 0 {
		for _, x := range row[:d] {
			square += float64((x / largest) * (x / largest))
		}
		length = max(length, float64(largest*math.Sqrt(square)))
	}
	for i := range row[:d] {
		row[i] /= length
	}
	if m := t.products.length; m > 0 { // the first d/m numbers are a context, which is multiplied by an arm's features
		z := make([]float64, d)
		for k := range z {
			z[k] = float64(row[k/m] * t.products.rows[choice][k%m])
		}
		copy(row, z)
	}
	row[d] = (e.Numbers[1] - t.middle) / t.half
	if t.blocks() > 1 {
		dst[0] = float64(choice)
	}
	return true
}

// Canary returns two events whose rows are at the largest distance. The events have different arms. If there are no
// separate arms, the two rows are orthogonal, except if contexts have a single number and s < 1. Features and rewards
// lie far beyond the values to which they are clamped.
func (t reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	if t.candidates > 0 {
		a, b := t.rows.LargestDistance(u)
		return t.record(0, a, factor), t.record(1, b, factor)
	}
	if t.products.length > 0 { // both events have the arm with the longest features
		context, longest := t.rows, 0
		context.Features = t.dimension()
		for arm, row := range t.products.rows {
			if square(row) > square(t.products.rows[longest]) {
				longest = arm
			}
		}
		a, b := context.LargestDistance(append(append([]float64{}, u[:context.Features]...), u[len(u)-1]))
		return t.record(longest, a, factor), t.record(longest, b, factor)
	}
	d := t.rows.Features
	row := make([]float64, d+1)
	copy(row, u[:d])
	row[d] = math.Copysign(1, u[d])
	if norm := math.Sqrt(square(row[:d])); norm > 1e-9 {
		for i := range d {
			row[i] /= norm
		}
	} else {
		row[0] = 1
	}
	return t.record(0, row, factor), t.record(1, row, factor)
}

func square(v []float64) (sum float64) {
	for _, x := range v {
		sum += float64(x * x)
	}
	return sum
}

// record returns an event whose row for a choice is (z; ±1).
func (t reference) record(choice int, row []float64, factor float64) operators.Record {
	d, beyond := t.dimension(), float64(operators.CanaryFactor*factor)
	values := make([]float64, d*max(1, t.candidates))
	at := 0
	if t.candidates > 0 {
		at = choice * d
	}
	for i, x := range row[:d] {
		values[at+i] = float64(float64(x*t.features) * beyond)
	}
	reward := t.middle + float64(float64(row[d]*t.half)*beyond)
	return operators.Record{Event: event.Event{
		Vector: event.Vector{Values: values}, Numbers: []float64{float64(choice), reward}, Weight: 1,
	}}
}
