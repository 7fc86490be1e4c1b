package eval

import (
	"slices"
	"testing"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// TestDrawsWithoutPrivacyAreTheBest checks that without privacy nothing is random: a rule that draws elements then
// takes the best element so far, whatever its ε.
func TestDrawsWithoutPrivacyAreTheBest(t *testing.T) {
	s, err := settings.Load([]string{
		"ORIEL_OPERATOR=submodular", "ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_PICK=2", "ORIEL_ELEMENTS=9",
		"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=40", "ORIEL_EPSILON=0.01", "ORIEL_DELTA=1e-6", "ORIEL_EMIT_EVERY=10",
	}, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	model, err := withoutNoise(s)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := model.Learner.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := opened([32]byte{5})
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	for i := range 40 {
		v := make([]float64, 9)
		v[4+i%2*3] = 1 // the events reward elements 4 and 7 in turn
		for _, d := range counted.Add(nil, operators.Record{
			Event: event.Event{Vector: event.Vector{Values: v}}, Identity: noise.Identity{Offset: int64(i)},
		}) {
			if d.Step > 10 && (!slices.Contains(d.Point, 4) || !slices.Contains(d.Point, 7)) {
				t.Errorf("step %d: %v", d.Step, d.Point)
			}
		}
	}
}
