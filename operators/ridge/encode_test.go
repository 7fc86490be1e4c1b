package ridge

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/optest"
)

// maker returns a function that makes machines for restored states, with weights of norm at most 3.
func maker(tb testing.TB) func(testing.TB) *Machine {
	tb.Helper()
	m := optest.Window("tree-gaussian")
	m.Batch = 2
	c, m := config(tb, m, "UPDATE=innovation", "DIMENSION=2", "LABEL_RANGE=-1:1", "RESIDUAL_MAX=0.5", "EMIT_EVERY=2",
		"WEIGHTS_MAX=3")
	plan := mechtest.Plan(tb, m)
	return func(tb testing.TB) *Machine {
		tb.Helper()
		machine, err := newMachine(c, mechtest.Planted(tb, m, plan, mechtest.Zero{}))
		if err != nil {
			tb.Fatal(err)
		}
		return machine
	}
}

func used(m *Machine, records int) *Machine {
	counted := operators.ByCount(m)
	for _, e := range drawn(records, 2, 4) {
		counted.Add(nil, operators.Record{Event: e})
	}
	return m
}

// FuzzRestore checks that an accepted state is stored again as the same bytes. The machine then does not panic, and its
// decisions are finite.
func FuzzRestore(f *testing.F) {
	fresh := maker(f)
	for _, records := range []int{0, 3, 4, 9} {
		f.Add(used(fresh(f), records).AppendState(nil))
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		m := fresh(t)
		counted := operators.ByCount(m)
		if !optest.Restores(t, m, state) {
			return
		}
		if m.Steps() > 1<<60 {
			return
		}
		for _, e := range drawn(9, 2, 1) {
			for _, d := range counted.Add(nil, operators.Record{Event: e}) {
				for i, x := range append(d.Point, m.members.deviation.Of(d.Extras)...) {
					if !(math.Abs(x) <= math.MaxFloat64) {
						t.Fatalf("number %d of a decision is %g", i, x)
					}
				}
			}
		}
	})
}

// TestStatesThatNoMachineWritesAreRefused checks that a state that no machine can have written is refused, and that the
// machine is unchanged.
func TestStatesThatNoMachineWritesAreRefused(t *testing.T) {
	fresh := maker(t)
	early, m := used(fresh(t), 3), used(fresh(t), 9)
	f := func(what string, of *Machine, change func(b []byte) []byte) {
		t.Helper()
		state := of.AppendState(nil)
		broken := change(bytes.Clone(state))
		if bytes.Equal(broken, state) {
			t.Fatalf("%s: nothing was changed", what)
		}
		if of.Restore(broken) == nil {
			t.Errorf("%s is taken", what)
		}
		if !bytes.Equal(of.AppendState(nil), state) {
			t.Fatalf("%s: the machine has changed", what)
		}
		if err := of.Restore(state); err != nil {
			t.Error(err)
		}
	}
	weight := func(x float64) func(b []byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[1:], math.Float64bits(x)); return b }
	}
	f("weights beyond their norm", m, weight(3.01))
	f("weights that are no numbers", m, weight(math.NaN()))
	f("weights before there was a decision", early, weight(0.5))
	f("doublings before there was a decision", early, func(b []byte) []byte { b[1+16] = 1; return b })
	f("another version", m, func(b []byte) []byte { b[0]++; return b })
	f("another length", m, func(b []byte) []byte { return b[1:] })
	f("another stream", m, func(b []byte) []byte { b[1+16+8]++; return b })
}
