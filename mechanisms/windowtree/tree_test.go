package windowtree

import (
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

var unit = lattice.Grid{Exp: 0, Lambda: 1 << 24} // one lattice unit is q = 1, so releases are the integers themselves

// silence is a sampler of zeros.
type silence struct{}

func (silence) Fill(dst []int64, _ noise.Seed) { clear(dst) }

func newTree(t testing.TB, window uint64, n int, sampler noise.Sampler) *Tree {
	t.Helper()
	tree, err := New(window, unit, n, sampler, 3)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// span returns the first and the last step that a node covers.
func (t *Tree) span(x noise.NodeID) (first, last uint64) {
	first = x.Block*t.window + x.Index<<x.Level + 1
	return first, first + 1<<x.Level - 1
}

// activeNodes returns the identities of the tree's active nodes, in order of their steps.
func (t *Tree) activeNodes() []noise.NodeID {
	var ids []noise.NodeID
	for _, slot := range slices.Concat(t.prefix, t.suffix) {
		if slot != none {
			ids = append(ids, t.slots[slot].id)
		}
	}
	slices.SortFunc(ids, func(a, b noise.NodeID) int {
		x, _ := t.span(a)
		y, _ := t.span(b)
		return int(x) - int(y)
	})
	return ids
}

func TestDepth(t *testing.T) {
	for window, want := range map[uint64]int{1: 1, 2: 2, 4: 3, 128: 8, 1024: 11, 1 << 62: 63} {
		if got := Depth(window); got != want {
			t.Errorf("Depth(%d) = %d, want %d", window, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, window := range []uint64{0, 3, 6, 1023, 1 << 63} {
		if _, err := New(window, unit, 1, silence{}, 0); err == nil {
			t.Errorf("New with window %d succeeds", window)
		}
	}
	if _, err := New(4, unit, 0, silence{}, 0); err == nil {
		t.Error("New with dimension 0 succeeds")
	}
	if _, err := New(4, lattice.Grid{}, 1, silence{}, 0); err == nil {
		t.Error("New without a grid succeeds")
	}
}

// TestActiveNodesAreThoseOfTheDefinition checks the facts of [WDP] §3 by brute force for W ≤ 64, t ≤ 5W. The counters
// must hold exactly the sets of the definition, which cover each of the W newest steps once with at most h nodes. Over
// its life every step lies under h nodes, and every node is active for one run of successive steps.
func TestActiveNodesAreThoseOfTheDefinition(t *testing.T) {
	for window := uint64(1); window <= 64; window *= 2 {
		tree := newTree(t, window, 1, silence{})
		h := Depth(window)
		chain, dst := noise.NewChain([32]byte{1}), make([]float64, 1)
		seen := map[noise.NodeID]uint64{} // the last step at which each node was active
		above := map[uint64]int{}         // number of nodes that covered each step
		for now := uint64(1); now <= 5*window; now++ {
			sumtest.Step(tree, chain, dst, 1)
			suffix, prefix := tree.active(now)
			ids := tree.activeNodes()
			if !slices.Equal(ids, slices.Concat(suffix, prefix)) {
				t.Fatalf("W=%d t=%d: active %v, want %v then %v", window, now, ids, suffix, prefix)
			}
			if got := Active(window, now); got != len(ids) {
				t.Fatalf("W=%d t=%d: Active says %d nodes of %d", window, now, got, len(ids))
			}
			if len(ids) > h {
				t.Fatalf("W=%d t=%d: %d active nodes, want at most %d", window, now, len(ids), h)
			}
			next := uint64(1)
			if now > window {
				next = now - window + 1
			}
			for _, id := range ids {
				first, last := tree.span(id)
				if first != next {
					t.Fatalf("W=%d t=%d: node %v starts at %d, want %d", window, now, id, first, next)
				}
				next = last + 1
				before, known := seen[id]
				if known && before != now-1 {
					t.Fatalf("W=%d: node %v active at %d and again at %d", window, id, before, now)
				}
				if !known {
					for i := first; i <= last; i++ {
						above[i]++
					}
				}
				seen[id] = now
			}
			if next != now+1 {
				t.Fatalf("W=%d t=%d: covered through %d", window, now, next-1)
			}
		}
		for i := uint64(1); i <= 4*window; i++ {
			if above[i] != h {
				t.Errorf("W=%d: step %d lies under %d nodes, want %d", window, i, above[i], h)
			}
		}
	}
}

func TestZeroNoiseGivesExactPrefixSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for window := uint64(1); window <= 32; window *= 2 {
		tree := newTree(t, window, 3, silence{})
		chain, dst := noise.NewChain([32]byte{}), make([]float64, 3)
		want := make([]float64, 3)
		for now := range 5 * window {
			contribution := []int64{r.Int64N(1<<25) - 1<<24, int64(now), -1}
			sumtest.Step(tree, chain, dst, contribution...)
			for i := range want {
				want[i] += float64(contribution[i])
			}
			if !slices.Equal(dst, want) {
				t.Fatalf("W=%d t=%d: release %v, want %v", window, now+1, dst, want)
			}
		}
	}
}

// bitmask is a sampler that gives every node its own power of two, so that a release shows which nodes it contains.
type bitmask struct{ next *int }

func (b bitmask) Fill(dst []int64, _ noise.Seed) {
	dst[0] = 1 << *b.next
	*b.next++
}

// TestExpiredStepLeavesNoNoise checks that no noise of expired steps stays in a release: it is the total plus the noise
// of its active nodes and nothing else. The noise is chosen so that any residue would show.
func TestExpiredStepLeavesNoNoise(t *testing.T) {
	const window = 4
	next := 0
	tree := newTree(t, window, 1, bitmask{&next})
	chain, dst := noise.NewChain([32]byte{}), make([]float64, 1)
	for now := uint64(1); now <= 5*window; now++ {
		sumtest.Step(tree, chain, dst, 0)
		want := int64(0)
		for _, slot := range slices.Concat(tree.prefix, tree.suffix) {
			if slot != none {
				want += tree.slots[slot].values[0]
			}
		}
		if int64(dst[0]) != want {
			t.Fatalf("t=%d: noise %b, want %b", now, int64(dst[0]), want)
		}
		for _, slot := range tree.free {
			if x := tree.slots[slot]; x.id != (noise.NodeID{}) || x.seed != (noise.Seed{}) || x.values[0] != 0 {
				t.Fatalf("t=%d: a retired node is not forgotten", now)
			}
		}
	}
}

// TestNoiseIsKeyedByTheHistory checks that the noise of a node is keyed at its activation: the same history gives the
// same bytes, and another last contribution gives other noise.
func TestNoiseIsKeyedByTheHistory(t *testing.T) {
	sampler := sumtest.Gaussian(t, 1<<20)
	run := func(changed uint64) (out []float64) {
		tree := newTree(t, 4, 2, sampler)
		chain, dst := noise.NewChain([32]byte{9}), make([]float64, 2)
		sum := int64(0)
		for now := uint64(1); now <= 20; now++ {
			contribution := int64(now)
			if now == changed {
				contribution++
			}
			sum += contribution
			sumtest.Step(tree, chain, dst, contribution, 0)
			out = append(out, dst[0]-float64(sum), dst[1])
		}
		return out
	}
	base := run(0)
	if !slices.Equal(base, run(0)) {
		t.Error("the same history gives other bytes")
	}
	for changed := uint64(1); changed <= 20; changed++ {
		other := run(changed)
		if !slices.Equal(base[:2*(changed-1)], other[:2*(changed-1)]) {
			t.Errorf("changing step %d changes noise before it", changed)
		}
		for i := 2 * (changed - 1); i < 40; i++ {
			if base[i] == other[i] {
				t.Errorf("changing step %d leaves noise at step %d", changed, i/2+1)
			}
		}
	}
}

func TestAddPanicsOnAWrongShape(t *testing.T) {
	tree := newTree(t, 2, 3, silence{})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	tree.Add(make([]float64, 3), make([]lattice.Int128, 2), noise.NewChain([32]byte{}))
}
