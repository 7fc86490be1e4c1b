package perstep

import (
	"bytes"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

func TestRestoreAtEveryStepGivesTheSameBytes(t *testing.T) {
	sampler := sumtest.Gaussian(t, 1<<10)
	sumtest.RestoreGivesTheSameBytes(t, "per step", 40, newPerStep(t, 3, sampler), newPerStep(t, 3, sampler))
}

// TestStateHoldsNoEvent checks that the state is the step, a function of the number of records, and depends on no
// event.
func TestStateHoldsNoEvent(t *testing.T) {
	states := map[string]bool{}
	for _, contribution := range []int64{0, 1, -1 << 20} {
		chain, dst := noise.NewChain([32]byte{byte(contribution)}), make([]float64, 1)
		o := newPerStep(t, 1, sumtest.Gaussian(t, 64))
		for range 9 {
			sumtest.Step(o, chain, dst, contribution)
		}
		states[string(o.AppendState([]byte("x")))] = true
	}
	if len(states) != 1 || !states["x\x09\x00\x00\x00\x00\x00\x00\x00"] {
		t.Errorf("states %v", states)
	}
}

func TestRestoreRefusesWhatItDidNotWrite(t *testing.T) {
	o, chain, dst := newPerStep(t, 2, silence{}), noise.NewChain([32]byte{}), make([]float64, 2)
	for range 5 {
		sumtest.Step(o, chain, dst, 1, 2)
	}
	state := o.AppendState(nil)
	for name, bad := range map[string][]byte{"empty": nil, "short": state[:7], "long": append(bytes.Clone(state), 0)} {
		sumtest.RefusesState(t, o, name, bad)
	}
}

func FuzzRestore(f *testing.F) {
	f.Add(newPerStep(f, 2, silence{}).AppendState(nil))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, state []byte) {
		sumtest.WritesBack(t, newPerStep(t, 2, silence{}), state)
	})
}
