package windowtree

import (
	"bytes"
	"slices"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

func TestRestoreAtEveryStepGivesTheSameBytes(t *testing.T) {
	sampler := gaussian(t, 1<<10)
	for _, window := range []uint64{1, 2, 8, 16} {
		tree := newTree(t, window, 3, sampler)
		chain, dst, again := noise.NewChain([32]byte{7}), make([]float64, 3), make([]float64, 3)
		var before []byte
		twin := newTree(t, window, 3, sampler)
		for now := range int64(4*window + 3) {
			before = tree.AppendState(before[:0])
			key := chain.Key()
			step(tree, chain, dst, now, -now, 5)
			if err := twin.Restore(before); err != nil {
				t.Fatal(err)
			}
			step(twin, noise.NewChain(key), again, now, -now, 5)
			if !slices.Equal(dst, again) {
				t.Fatalf("W=%d t=%d: release %v after a restore, want %v", window, now+1, again, dst)
			}
			after := tree.AppendState(nil)
			if len(after) != tree.StateLen() || !bytes.Equal(after, twin.AppendState(nil)) {
				t.Fatalf("W=%d t=%d: states differ after a restore", window, now+1)
			}
		}
	}
}

func TestRestoreRefusesWhatItDidNotWrite(t *testing.T) {
	tree := newTree(t, 8, 2, gaussian(t, 1024))
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 2)
	empty := tree.AppendState(nil)
	for range 14 {
		step(tree, chain, dst, 1, 2)
	}
	state := tree.AppendState(nil)
	f := func(name string, bad []byte) {
		t.Helper()
		if tree.Restore(bad) == nil {
			t.Errorf("%s: accepted", name)
		}
		if !bytes.Equal(tree.AppendState(nil), state) {
			t.Errorf("%s: a refused state changes the tree", name)
		}
	}
	with := func(state []byte, i int) []byte {
		bad := bytes.Clone(state)
		bad[i] ^= 1
		return bad
	}
	slots := 8 + 2*lattice.Int128Len
	f("short", state[:len(state)-1])
	f("long", append(bytes.Clone(state), 0))
	f("another step", with(state, 0))
	f("another instance", with(state, slots))
	f("another block", with(state, slots+2))
	f("another level", with(state, slots+10))
	f("another index", with(state, slots+11))
	f("unused slot", with(state, len(state)-1))
	f("total before the first step", with(empty, 8))
	other, err := New(8, unit, 2, silence{}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if other.Restore(state) == nil {
		t.Error("a state of another instance is accepted")
	}
}

func FuzzRestore(f *testing.F) {
	sampler := gaussian(f, 1024)
	tree := newTree(f, 8, 2, sampler)
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 2)
	for range 13 {
		f.Add(tree.AppendState(nil))
		step(tree, chain, dst, 1, 2)
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		tree := newTree(t, 8, 2, sampler)
		if tree.Restore(state) == nil && !bytes.Equal(tree.AppendState(nil), state) {
			t.Error("a restored state is not written back")
		}
	})
}
