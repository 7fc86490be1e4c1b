package windowtree

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestAddAllocatesOnlyTheCipher checks that Add, which fills up to two vectors, allocates at most one block cipher
// each, and none if the processor has AES instructions.
func TestAddAllocatesOnlyTheCipher(t *testing.T) {
	tree := newTree(t, 1024, 32, sumtest.Gaussian(t, 1<<30))
	silent := newTree(t, 1024, 32, silence{})
	chain, dst, contribution := noise.NewChain([32]byte{}), make([]float64, 32), make([]int64, 32)
	seed := chain.Seed(noise.NodeID{})
	cipher := testing.AllocsPerRun(100, func() { tree.sampler.Fill(contribution, seed) })
	v := make([]lattice.Int128, 32)
	f := func(tree *Tree, want float64) {
		t.Helper()
		got := testing.AllocsPerRun(4096, func() {
			chain.Absorb(noise.Identity{}, contribution)
			chain.Close(tree.steps + 1)
			tree.Add(dst, v, chain)
		})
		if got > want {
			t.Errorf("%g allocations a step, want at most %g", got, want)
		}
	}
	f(silent, 0)
	f(tree, 2*cipher)
}

// stateAt returns a state of the tree in the middle of its second block, for benchmarks of large windows.
func stateAt(tree *Tree, steps uint64) []byte {
	state := make([]byte, tree.StateLen())
	binary.LittleEndian.PutUint64(state, steps)
	suffix, prefix := tree.active(steps)
	rest := state[8+len(tree.total)*lattice.Int128Len:]
	for i, id := range slices.Concat(suffix, prefix) {
		appendID(rest[: i*slotLen : len(rest)][i*slotLen:], id)
	}
	return state
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{8, 32, 256} {
		for _, window := range []uint64{1 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("d=%d/W=%d", n, window), func(b *testing.B) {
				tree := newTree(b, window, n, sumtest.Gaussian(b, 1<<30))
				if err := tree.Restore(stateAt(tree, window+window/2)); err != nil {
					b.Fatal(err)
				}
				chain, dst, contribution := noise.NewChain([32]byte{}), make([]float64, n), make([]int64, n)
				v := sumtest.Wide(contribution)
				b.ReportAllocs()
				for b.Loop() {
					chain.Absorb(noise.Identity{}, contribution)
					chain.Close(tree.steps + 1)
					tree.Add(dst, v, chain)
				}
			})
		}
	}
}
