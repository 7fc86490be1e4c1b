package toy

import (
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// TestConformance runs the conformance suite with and without a horizon. Each record has the key of the pending action,
// or no key.
func TestConformance(t *testing.T) {
	for _, scope := range []protection.Scope{protection.Window{Steps: 64}, protection.Lifetime{Steps: 40, Within: 40}} {
		c := operator{arms: []string{"left", "right", "middle"}, dimension: 2, clip: 1, timeout: 3, batch: 2}
		m := mechanisms.Config{
			Name: "blt", Batch: c.batch, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
			Terms: protection.Terms{Scope: scope, Unit: protection.Event{Exchange: dp.Replace}},
		}
		if err := c.Require(&m, nil); err != nil {
			t.Fatal(err)
		}
		events := make([]event.Event, 30)
		for i := range events {
			v := event.Vector{Values: []float64{0.5, float64(i)}}
			if i%3 == 1 {
				v = event.Vector{Indices: []int32{1}, Values: []float64{2}}
			}
			events[i] = event.Event{Vector: v, Numbers: []float64{float64(i%5) - 1.5}}
		}
		plan, err := c.Params(m)
		if err != nil {
			t.Fatal(err)
		}
		optest.RunKeyed(t, func(tb testing.TB, open optest.Open) operators.Machine {
			machine, err := c.Open(plan, open(m))
			if err != nil {
				tb.Fatal(err)
			}
			return machine
		}, func(place int) []byte { return []byte("play-" + strconv.Itoa(place/2*2)) }, events)
	}
}

// TestNoActionAfterTheHorizon checks that no action is published after the last step of a stream with a
// horizon.
func TestNoActionAfterTheHorizon(t *testing.T) {
	c := operator{arms: []string{"left", "right"}, dimension: 1, clip: 1, timeout: 3, batch: 1}
	m := mechanisms.Config{
		Name: "blt", Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{
			Scope: protection.Lifetime{Steps: 3, Within: 3}, Unit: protection.Event{Exchange: dp.Replace},
		},
	}
	if err := c.Require(&m, nil); err != nil {
		t.Fatal(err)
	}
	plan, err := mechanisms.Calibrate(m)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := mechanisms.Open(m, plan, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	public, err := c.Params(m)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := c.Open(public, stream)
	if err != nil {
		t.Fatal(err)
	}
	// an action first; then sums and an action after each step; the last step has only sums
	for step, want := range []int{1, 2, 2, 1} {
		if _, count := machine.Due(uint64(step)); count != want {
			t.Errorf("%d decisions are due after step %d, want %d", count, step, want)
		}
	}
	made := machine.Open(nil)
	for range 3 {
		made = machine.Add(made, operators.Record{Null: true})
	}
	if len(made) != 6 || made[5].Output != 0 {
		t.Errorf("%d decisions, the last %+v", len(made), made[len(made)-1])
	}
}
