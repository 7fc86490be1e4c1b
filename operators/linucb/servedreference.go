package linucb

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"oriel/operators"
	"oriel/schemas/event"
)

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
