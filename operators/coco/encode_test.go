package coco

import (
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/optest"
)

// FuzzRestore checks that a state that is accepted is stored again as the same bytes, and that the next record does not
// panic.
func FuzzRestore(f *testing.F) {
	c := sample(f, "l1-ball", 2)
	c.OwnConvexity = true
	m := mechanism(c, 2, 2)
	plan := mechtest.Plan(f, m)
	restorable := func(tb testing.TB, llo bool) *Machine {
		c := c
		if llo {
			c.Update = LLO
		}
		return quietPlan(tb, c, m, plan)
	}
	for _, llo := range []bool{false, true} {
		machine := restorable(f, llo)
		counted := operators.ByCount(machine)
		f.Add(llo, machine.AppendState(nil))
		for i := range 3 {
			counted.Add(nil, record(i, linear([]float64{1, -1})))
		}
		f.Add(llo, machine.AppendState(nil))
	}
	f.Fuzz(func(t *testing.T, llo bool, state []byte) {
		machine := restorable(t, llo)
		counted := operators.ByCount(machine)
		if optest.Restores(t, machine, state) {
			counted.Add(nil, record(0, linear([]float64{1, 0})))
		}
	})
}
