package windowtree

import (
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestDrawsReachTheRelease checks that the draws for the nodes of a step are in its release exactly, at the reach of
// each sampler: 29 s for Gaussian noise, 400 s for Laplace noise and the factors of Gamma noise.
func TestDrawsReachTheRelease(t *testing.T) {
	for _, window := range []uint64{1, 8} {
		for _, c := range []struct{ reach, scale int64 }{{29, 3}, {29, 1 << 40}, {400, 1 << 40}} {
			sumtest.DrawsReachTheRelease(t, c.reach, c.scale, 4, func(sampler noise.Sampler) sumtest.Sum {
				return newTree(t, window, 4, sampler)
			})
		}
	}
}

// TestReleaseIsTotalAndActiveNoise checks that y_t is the total plus the draws of all active nodes, unchanged:
// PROOF.md, "What the types guarantee", 3. The definition determines which nodes are active, and the chain's seeds
// which draw belongs to which node.
func TestReleaseIsTotalAndActiveNoise(t *testing.T) {
	const window, n, scale = 8, 4, 1 << 40
	values := sumtest.Tails(29, scale)
	script := &sumtest.Script{Values: values}
	drawn := map[noise.Seed][]int64{}
	tree := newTree(t, window, n, recording{script, drawn})
	chain, dst, contribution := noise.NewChain([32]byte{3}), make([]float64, n), make([]int64, n)
	seeds := map[noise.NodeID]noise.Seed{} // seeds of the active nodes
	var total [n]int64
	for now := range 4 * len(values) {
		sumtest.Contribution(contribution, now)
		for i, x := range contribution {
			total[i] += x
		}
		sumtest.Step(tree, chain, dst, contribution...)
		suffix, prefix := tree.active(uint64(now + 1))
		active := slices.Concat(suffix, prefix)
		for id := range seeds {
			if !slices.Contains(active, id) {
				delete(seeds, id)
			}
		}
		want := total
		for _, id := range active {
			if _, known := seeds[id]; !known {
				keyed := id
				keyed.Instance = 3
				seeds[id] = chain.Seed(keyed)
			}
			noise, known := drawn[seeds[id]]
			if !known {
				t.Fatalf("step %d: node %v has noise of another seed", now+1, id)
			}
			for i, x := range noise {
				want[i] += x
			}
		}
		for i, y := range dst {
			if y != float64(want[i]) {
				t.Fatalf("step %d, coordinate %d: release %.0f, total and noise are %d", now+1, i+1, y, want[i])
			}
		}
	}
}

// recording records the draws of a sampler, by seed.
type recording struct {
	noise.Sampler
	drawn map[noise.Seed][]int64
}

func (r recording) Fill(dst []int64, seed noise.Seed) {
	r.Sampler.Fill(dst, seed)
	r.drawn[seed] = slices.Clone(dst)
}

func TestTailDrawsReachTheRelease(t *testing.T) {
	sumtest.FarDrawsReachTheRelease(t, noise.NodeID{}, func(n int, sampler noise.Sampler) sumtest.Sum {
		tree, err := New(8, unit, n, sampler, 0)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	})
}
