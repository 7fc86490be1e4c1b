package optest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/operators"
	"oriel/schemas/event"
)

// nullTakesItsPlace checks that a null record counts in its step like any other record, and that its event is not read.
func (s suite) nullTakesItsPlace(t *testing.T) {
	plain := s.newMachine(t)
	empty := s.newMachine(t)
	for i, r := range s.records {
		a := plain.Add(nil, r)
		b := empty.Add(nil, operators.Record{Identity: r.Identity, Null: true})
		if len(a) != len(b) || plain.Steps() != empty.Steps() {
			t.Fatalf("record %d: %d decisions with events, %d with null records", i, len(a), len(b))
		}
		for j := range a {
			if a[j].Index != b[j].Index || a[j].Step != b[j].Step {
				t.Fatalf("record %d: index and step depend on events", i)
			}
		}
	}

	nulls, ghosts := slices.Clone(s.records), slices.Clone(s.records)
	for i := range nulls {
		if i%3 == 0 {
			nulls[i].Null, nulls[i].Event = true, event.Event{}
			ghosts[i].Null = true
		}
	}
	wantSame(t, play(s.newMachine(t), ghosts), play(s.newMachine(t), nulls))
}

// useless has changes that make an event unusable for every machine. A change returns false if the event lacks the
// member that it would spoil. A machine that reads no weight need not check weights.
var useless = map[string]func(*event.Event) bool{
	"weight not a number": func(e *event.Event) bool { return spoil(&e.Weight, math.NaN()) },
	"weight negative":     func(e *event.Event) bool { return spoil(&e.Weight, -1) },
	"numbers not finite": func(e *event.Event) bool {
		e.Numbers = slices.Repeat([]float64{math.NaN()}, len(e.Numbers))
		return len(e.Numbers) > 0
	},
	"values not finite": func(e *event.Event) bool {
		e.Vector.Values = slices.Repeat([]float64{math.NaN()}, len(e.Vector.Values))
		return len(e.Vector.Values) > 0
	},
	"other dimension": func(e *event.Event) bool {
		has := len(e.Vector.Values) > 0
		e.Vector = event.Vector{Values: slices.Repeat([]float64{1}, len(e.Vector.Values)+1000)}
		return has
	},
	"index out of range": func(e *event.Event) bool {
		has := len(e.Vector.Values) > 0
		e.Vector = event.Vector{Indices: []int32{math.MaxInt32}, Values: []float64{1}}
		return has
	},
}

func spoil(weight *float64, with float64) bool {
	has := *weight != 0
	*weight = with
	return has
}

// uselessRecordIsNull checks that events that no machine can use have exactly the effect of a null record.
func (s suite) uselessRecordIsNull(t *testing.T) {
	for name, spoil := range useless {
		spoiled, nulls, count := slices.Clone(s.records), slices.Clone(s.records), 0
		for i := range spoiled {
			if e := spoiled[i].Event; i%4 == 1 && !spoiled[i].Null && spoil(&e) {
				spoiled[i].Event = e
				nulls[i].Null, nulls[i].Event = true, event.Event{}
				count++
			}
		}
		if count == 0 {
			continue
		}
		got := play(s.newMachine(t), spoiled)
		if strings.HasPrefix(name, "weight") && same(got, play(s.newMachine(t), s.records)) {
			continue // this machine reads no weight
		}
		t.Run(name, func(t *testing.T) { wantSame(t, got, play(s.newMachine(t), nulls)) })
	}
}
