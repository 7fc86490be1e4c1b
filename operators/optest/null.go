package optest

import (
	"math"
	"slices"
	"testing"

	"oriel/operators"
	"oriel/schemas"
)

// nullTakesItsPlace wants a null record to close steps like any other, and its event not to be read.
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
			nulls[i].Null, nulls[i].Event = true, schemas.Event{}
			ghosts[i].Null = true
		}
	}
	wantSame(t, play(s.newMachine(t), ghosts), play(s.newMachine(t), nulls))
}

// useless makes events that no machine can use.
var useless = map[string]func(*schemas.Event){
	"weight not a number": func(e *schemas.Event) { e.Weight = math.NaN() },
	"weight negative":     func(e *schemas.Event) { e.Weight = -1 },
	"values not finite": func(e *schemas.Event) {
		e.Vector.Values = slices.Repeat([]float64{math.NaN()}, len(e.Vector.Values))
	},
	"other dimension": func(e *schemas.Event) {
		e.Vector = schemas.Vector{Values: slices.Repeat([]float64{1}, len(e.Vector.Values)+1000)}
	},
	"index out of range": func(e *schemas.Event) {
		e.Vector = schemas.Vector{Indices: []int32{math.MaxInt32}, Values: []float64{1}}
	},
}

// uselessRecordIsNull wants events that no machine can use to leave the bytes of a null record.
func (s suite) uselessRecordIsNull(t *testing.T) {
	nulls := slices.Clone(s.records)
	for i := range nulls {
		if i%4 == 1 {
			nulls[i].Null, nulls[i].Event = true, schemas.Event{}
		}
	}
	want := play(s.newMachine(t), nulls)
	for name, spoil := range useless {
		t.Run(name, func(t *testing.T) {
			spoiled := slices.Clone(s.records)
			for i := range spoiled {
				if i%4 == 1 && !spoiled[i].Null {
					spoil(&spoiled[i].Event)
				}
			}
			wantSame(t, play(s.newMachine(t), spoiled), want)
		})
	}
}
