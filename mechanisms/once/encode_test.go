package once

import (
	"bytes"
	"slices"
	"testing"

	"oriel/mechanisms/noise"
)

func TestRestoreAtEveryStepGivesTheSameBytes(t *testing.T) {
	o, twin := newOnce(t, 3, gaussian(t, 1<<10)), newOnce(t, 3, gaussian(t, 1<<10))
	chain, dst, again := noise.NewChain([32]byte{7}), make([]float64, 3), make([]float64, 3)
	for now := range int64(40) {
		before, key := o.AppendState(nil), chain.Key()
		step(o, chain, dst, now, -now, 5)
		if err := twin.Restore(before); err != nil {
			t.Fatal(err)
		}
		step(twin, noise.NewChain(key), again, now, -now, 5)
		if !slices.Equal(dst, again) {
			t.Fatalf("t=%d: release %v after a restore, want %v", now+1, again, dst)
		}
		if after := o.AppendState(nil); len(after) != o.StateLen() || !bytes.Equal(after, twin.AppendState(nil)) {
			t.Fatalf("t=%d: states differ after a restore", now+1)
		}
	}
}

// The state is the step: a function of the number of records, and nothing of any event.
func TestStateHoldsNoEvent(t *testing.T) {
	states := map[string]bool{}
	for _, leaf := range []int64{0, 1, -1 << 20} {
		o, chain, dst := newOnce(t, 1, gaussian(t, 64)), noise.NewChain([32]byte{byte(leaf)}), make([]float64, 1)
		for range 9 {
			step(o, chain, dst, leaf)
		}
		states[string(o.AppendState([]byte("x")))] = true
	}
	if len(states) != 1 || !states["x\x09\x00\x00\x00\x00\x00\x00\x00"] {
		t.Errorf("states %v", states)
	}
}

func TestRestoreRefusesWhatItDidNotWrite(t *testing.T) {
	o, chain, dst := newOnce(t, 2, silence{}), noise.NewChain([32]byte{}), make([]float64, 2)
	for range 5 {
		step(o, chain, dst, 1, 2)
	}
	state := o.AppendState(nil)
	for name, bad := range map[string][]byte{"empty": nil, "short": state[:7], "long": append(bytes.Clone(state), 0)} {
		if o.Restore(bad) == nil {
			t.Errorf("%s: accepted", name)
		}
		if !bytes.Equal(o.AppendState(nil), state) {
			t.Errorf("%s: a refused state changes the mechanism", name)
		}
	}
}

func FuzzRestore(f *testing.F) {
	f.Add(newOnce(f, 2, silence{}).AppendState(nil))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, state []byte) {
		o := newOnce(t, 2, silence{})
		if o.Restore(state) == nil && !bytes.Equal(o.AppendState(nil), state) {
			t.Error("a restored state is not written back")
		}
	})
}
