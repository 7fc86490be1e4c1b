package linucb

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/optest"
)

// modelLen is the offset, in a state, of the release from which the model was solved.
const modelLen = 1 + 8 + 8

// maker returns a function that makes machines, logged or served, for restored states. The step of these machines stays
// open during a test.
func maker(tb testing.TB, served bool) func(testing.TB) *Machine {
	tb.Helper()
	m, played := optest.Window("blt"), "logged"
	if m.Batch = 3; served {
		played = "served"
	}
	c, m := config(tb, m, "PLAYED="+played, "ARMS=a,b", "DIMENSION=1", "EMIT_EVERY=2", "WAIT=3", "CAPACITY=6",
		"SOLVE=doubled", "NOISE_SHIFT=0", "START_REGULARIZER=0.1")
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

// used returns the machine after some records, contexts and rewards.
func used(m *Machine, records int) *Machine {
	counted := operators.ByCount(m)
	for i := range records {
		e := context(float64(1 - 2*(i%2)))
		e.Numbers = []float64{float64(i % 2), 1}
		counted.Add(nil, operators.Record{Event: e, Key: strconv.AppendInt(nil, int64(i-i%3/2), 10)})
	}
	return m
}

// goesOn adds records of all kinds, more than a state can hold open, and checks that all due decisions are made.
func goesOn(t *testing.T, m *Machine) {
	t.Helper()
	for i := range 12 {
		e, before := context(1), m.Steps()
		e.Numbers = []float64{0, 1}
		m.Add(operators.Record{Event: e, Key: strconv.AppendInt(nil, int64(i%5), 10), Null: i%4 == 3})
		if m.served && len(m.actions) < int(m.batch) {
			continue // the step of the state is open
		}
		made := m.Close(nil)
		if _, count := m.Due(before + 1); len(made) != count {
			t.Fatalf("record %d: %d decisions, %d are due", i, len(made), count)
		}
	}
}

// FuzzRestore checks that an accepted state is stored again as the same bytes. The machine then neither panics nor
// omits a decision.
func FuzzRestore(f *testing.F) {
	makers := map[bool]func(testing.TB) *Machine{}
	for _, served := range []bool{false, true} {
		makers[served] = maker(f, served)
		for _, records := range []int{0, 4, 6, 8, 14} {
			f.Add(served, used(makers[served](f), records).AppendState(nil))
		}
	}
	f.Fuzz(func(t *testing.T, served bool, state []byte) {
		m := makers[served](t)
		if !optest.Restores(t, m, state) {
			return
		}
		if m.Steps() < 1<<60 {
			goesOn(t, m)
		}
	})
}

// TestStatesOfTwoHistoriesAreRefused checks that a state is refused if its components come from different histories,
// and that the machine is unchanged. Without this check the machine would fail later, at a record for which its actions
// or rows have no room.
func TestStatesOfTwoHistoriesAreRefused(t *testing.T) {
	fresh := maker(t, true)
	m := used(fresh(t), 8) // two records of step 2 are open
	if m.model.step != 2 {
		t.Fatalf("a model of step %d", m.model.step)
	}
	state := m.AppendState(nil)
	own := modelLen + 8*len(m.model.release)
	table := own + 4 + int(m.batch)*actionLen
	f := func(what string, change func(b []byte)) {
		t.Helper()
		broken := bytes.Clone(state)
		change(broken)
		if bytes.Equal(broken, state) {
			t.Fatalf("%s: nothing was changed", what)
		}
		for _, machine := range []*Machine{m, fresh(t)} {
			before := machine.AppendState(nil)
			if machine.Restore(broken) == nil {
				t.Errorf("%s is taken", what)
			}
			if !bytes.Equal(machine.AppendState(nil), before) {
				t.Fatalf("%s: the machine has changed", what)
			}
		}
	}
	f("an action more than a step has", func(b []byte) { b[own] = 3 })
	f("rows of later steps", func(b []byte) { // rows begin after two u64; a row begins with its step u64
		for at := table + 16; at < table+m.waiting.StateLen(); at += (m.waiting.StateLen() - 16) / m.waiting.Capacity {
			if binary.LittleEndian.Uint64(b[at:]) == m.Steps()+1 {
				b[at]++
			}
		}
	})
	f("a model of a later step", func(b []byte) { b[1] = 4 })
	f("a model of no step", func(b []byte) { b[1] = 1 })
	f("a release that is not finite", func(b []byte) {
		binary.LittleEndian.PutUint64(b[modelLen:], math.Float64bits(math.NaN()))
	})
	f("a choice that there is not", func(b []byte) { b[own+4] = 9 })
	f("something behind a key", func(b []byte) { b[own+4+actionLen-2] = 1 })
	f("an answer to what there is not", func(b []byte) { b[own+4+actionLen-1] = 3 })
	f("a choice that answers a reward", func(b []byte) { b[own+4+actionLen-1] = byte(toReward) })
	f("an answer to no record", func(b []byte) { b[own+4+3*actionLen-1] = byte(toReward) })
	f("doublings before there was a model", func(b []byte) { clear(b[1 : modelLen+8*len(m.model.release)]); b[9] = 1 })
	f("a release before there was a model", func(b []byte) { clear(b[1:9]) })
	f("another version", func(b []byte) { b[0]++ })
	f("another stream", func(b []byte) { b[table+m.waiting.StateLen()]++ })
	if m.Restore(state[1:]) == nil || m.Restore(nil) == nil {
		t.Error("a state of another length is taken")
	}
	if err := m.Restore(state); err != nil {
		t.Error(err)
	}
	goesOn(t, m)
}
