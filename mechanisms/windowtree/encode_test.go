package windowtree

import (
	"bytes"
	"fmt"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

func TestRestoreAtEveryStepGivesTheSameBytes(t *testing.T) {
	sampler := sumtest.Gaussian(t, 1<<10)
	for _, window := range []uint64{1, 2, 8, 16} {
		tree, other := newTree(t, window, 3, sampler), newTree(t, window, 3, sampler)
		sumtest.RestoreGivesTheSameBytes(t, fmt.Sprintf("W = %d", window), int(4*window+3), tree, other)
	}
}

func TestRestoreRefusesWhatItDidNotWrite(t *testing.T) {
	tree := newTree(t, 8, 2, sumtest.Gaussian(t, 1024))
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 2)
	empty := tree.AppendState(nil)
	for range 14 {
		sumtest.Step(tree, chain, dst, 1, 2)
	}
	state := tree.AppendState(nil)
	f := func(what string, bad []byte) {
		t.Helper()
		sumtest.RefusesState(t, tree, what, bad)
	}
	slots := 8 + 2*lattice.Int128Len
	f("short", state[:len(state)-1])
	f("long", append(bytes.Clone(state), 0))
	f("another step", sumtest.Flipped(state, 0, 1))
	f("another instance", sumtest.Flipped(state, slots, 1))
	f("another block", sumtest.Flipped(state, slots+2, 1))
	f("another level", sumtest.Flipped(state, slots+10, 1))
	f("another index", sumtest.Flipped(state, slots+11, 1))
	f("unused slot", sumtest.Flipped(state, len(state)-1, 1))
	f("total before the first step", sumtest.Flipped(empty, 8, 1))
	other, err := New(8, unit, 2, silence{}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if other.Restore(state) == nil {
		t.Error("a state of another instance is accepted")
	}
}

func FuzzRestore(f *testing.F) {
	sampler := sumtest.Gaussian(f, 1024)
	tree := newTree(f, 8, 2, sampler)
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 2)
	for range 13 {
		f.Add(tree.AppendState(nil))
		sumtest.Step(tree, chain, dst, 1, 2)
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		sumtest.WritesBack(t, newTree(t, 8, 2, sampler), state)
	})
}
