package linucb

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

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

// servedReference implements operators.ReferenceModel for a machine that serves actions. It derives the waiting
// contexts from keys and steps, and the choice for a context from its published action. So it knows the contribution of
// a reward only if the reward comes in a later step than its context.
type servedReference struct {
	reference
	key     operators.TextMember // key that an action answers
	records uint64
	open    []waitingContext // contexts that have not timed out, oldest first
}

// waitingContext is a context that waits for its reward.
type waitingContext struct {
	key      string
	step     uint64
	context  operators.Record
	choice   int // the choice in the published action; none before publication
	answered bool
}

func (t *servedReference) Begin() { t.records, t.open = 0, nil }

func (t *servedReference) Observe(decisions []operators.Decision) {
	for _, d := range decisions {
		if d.Output != 1 {
			continue
		}
		for i := range t.open {
			if w := &t.open[i]; w.step == d.Step && w.key == t.key.Of(d.Extras) {
				w.choice = int(d.Point[0])
			}
		}
	}
}

// Contribution writes the row of a reward and its context. SPEC.md defines which records are rewards.
func (t *servedReference) Contribution(dst []float64, r operators.Record) bool {
	step, key := t.records/t.batch+1, string(r.Key)
	t.records++
	if !utf8.Valid(r.Key) {
		key = ""
	}
	t.open = slices.DeleteFunc(t.open, func(w waitingContext) bool { return step-w.step >= t.waiting.Timeout })
	at := slices.IndexFunc(t.open, func(w waitingContext) bool { return w.key == key })
	if at < 0 {
		if len(key) >= 1 && len(key) <= maxName && len(t.open) < t.waiting.Capacity {
			t.open = append(t.open, waitingContext{key: key, step: step, context: copied(r), choice: none})
		}
		return false
	}
	w := &t.open[at]
	if w.answered {
		return false
	}
	w.answered = true
	if r.Null || w.context.Null || w.choice == none {
		return false
	}
	whole := event.Event{
		Vector: w.context.Event.Vector, Numbers: []float64{float64(w.choice), r.Event.Numbers[1]}, Weight: 1,
	}
	return t.reference.Contribution(dst, operators.Record{Event: whole})
}

// copied returns a record that does not share the caller's slices.
func copied(r operators.Record) operators.Record {
	r.Key = slices.Clone(r.Key)
	r.Event.Vector.Indices = slices.Clone(r.Event.Vector.Indices)
	r.Event.Vector.Values = slices.Clone(r.Event.Vector.Values)
	r.Event.Numbers = slices.Clone(r.Event.Numbers)
	return r
}

// Canary returns two events whose contexts are at the largest distance under one arm, because the machine chooses arms.
// Their key is unused so far.
func (t *servedReference) Canary(u []float64, factor float64) (with, without operators.Record) {
	with, without = t.reference.Canary(u, factor)
	if t.candidates == 0 && t.products.length == 0 {
		a, b := t.rows.LargestDistance(u)
		with, without = t.record(0, a, factor), t.record(0, b, factor)
	}
	with.Key = strconv.AppendUint(nil, t.records, 10)
	without.Key = with.Key
	return with, without
}

// Records returns the context and the reward of an event. Both are null records if the event is one.
func (t *servedReference) Records(e operators.Record) (records []operators.Record, lag uint64) {
	context, reward := e, e
	if !e.Null {
		context.Event.Numbers = []float64{none, noReward}
		reward.Event = event.Event{Numbers: []float64{none, e.Event.Numbers[1]}, Weight: 1}
	}
	return []operators.Record{context, reward}, 0
}
