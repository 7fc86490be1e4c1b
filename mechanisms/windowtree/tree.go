package windowtree

import (
	"fmt"
	"math/bits"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// maxLevels bounds the window by 2⁶², so that block and position arithmetic cannot overflow uint64.
const maxLevels = 63

// Depth returns h = log₂(window) + 1, the number of levels of a tree, and of nodes above a contribution. It panics
// unless window is a power of two.
func Depth(window uint64) int {
	if window == 0 || window&(window-1) != 0 {
		panic(fmt.Sprintf("BUG: windowtree: window %d is not a power of two", window))
	}
	return bits.Len64(window)
}

// Active returns the number of nodes in the release of a step, counted from 1 (PROOF.md, F1 and F2). The variance of
// the release's noise is this number times the variance of a node's noise.
func Active(window, step uint64) int {
	p := (step-1)%window + 1
	if step <= window {
		return bits.OnesCount64(p)
	}
	return bits.OnesCount64(p) + bits.OnesCount64(window-p)
}

// Tree is the mechanism of one stream. It is not safe for concurrent use.
//
// Invariant: after step t, noise = Σ noise(x) over active(t). prefix[l] and suffix[l] hold the slot of the active node
// of level l in the current and in the previous block, or none. All other slots are in free and zero.
type Tree struct {
	window   uint64
	grid     lattice.Grid
	sampler  noise.Sampler
	instance uint16

	steps  uint64
	total  []lattice.Int128 // Σ v_i, exact sum without noise
	noise  []lattice.Int128 // Σ of active nodes' noise, in 128 bits because h·2⁶³ exceeds 64
	slots  []node           // h slots for active nodes, because no release has more
	free   []int            // indices of slots without a node
	prefix []int            // slot of the prefix node at each level
	suffix []int            // slot of the suffix node at each level
}

// node is an active node; values holds its noise, a function of seed.
type node struct {
	id     noise.NodeID
	seed   noise.Seed
	values []int64
}

const none = -1

// New returns a tree before its first step. window must be a power of two up to 2⁶²; sampler must have the
// calibration's scale and dimension n; instance separates the noise of several trees on one chain.
func New(window uint64, grid lattice.Grid, n int, sampler noise.Sampler, instance uint16) (*Tree, error) {
	switch {
	case window == 0 || window&(window-1) != 0:
		return nil, fmt.Errorf("windowtree: window %d: not a power of two", window)
	case Depth(window) > maxLevels:
		return nil, fmt.Errorf("windowtree: window %d: above 2^%d", window, maxLevels-1)
	case n < 1:
		return nil, fmt.Errorf("windowtree: dimension %d: below 1", n)
	}
	if err := grid.Validate(); err != nil {
		return nil, fmt.Errorf("windowtree: grid: %w", err)
	}
	return build(window, grid, n, sampler, instance), nil
}

// Fresh returns a new tree before its first step, as New would make it. Both share the sampler, so only one of them may
// be used at a time.
func (t *Tree) Fresh() *Tree { return build(t.window, t.grid, len(t.total), t.sampler, t.instance) }

// build is New for valid arguments.
func build(window uint64, grid lattice.Grid, n int, sampler noise.Sampler, instance uint16) *Tree {
	h := Depth(window)
	t := &Tree{
		window: window, grid: grid, sampler: sampler, instance: instance,
		total: make([]lattice.Int128, n), noise: make([]lattice.Int128, n),
		slots: make([]node, h), free: make([]int, 0, h), prefix: make([]int, h), suffix: make([]int, h),
	}
	values := make([]int64, h*n)
	for i := range t.slots {
		t.slots[i].values = values[i*n : (i+1)*n : (i+1)*n]
	}
	t.clearSlots()
	return t
}

// clearSlots marks every slot as unused.
func (t *Tree) clearSlots() {
	t.free = t.free[:0]
	for i := range t.slots {
		t.prefix[i], t.suffix[i] = none, none
		t.free = append(t.free, i)
	}
}

// Add takes the contribution sum v of step Steps()+1 and writes the release to dst. The chain must have absorbed every
// event of the step, and closed it, BEFORE.
func (t *Tree) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	if len(v) != len(t.total) || len(dst) != len(t.total) {
		panic(fmt.Sprintf("BUG: windowtree: contribution sum has %d entries and release %d, want %d", len(v), len(dst), len(t.total)))
	}
	t.steps++
	t.advance(chain)
	for i, x := range v {
		t.total[i] = t.total[i].Add(x)
		dst[i] = t.grid.Float64(t.total[i].Add(t.noise[i]))
	}
}

// advance replaces the active nodes of step steps−1 by those of step steps. It runs two binary counters: one counts [1,
// p] up in the current block, the other counts [p+1, W] down in the previous block. Expiring nodes leave first, so that
// h slots suffice.
func (t *Tree) advance(chain *noise.Chain) {
	block, p := (t.steps-1)/t.window, (t.steps-1)%t.window+1
	if p == 1 {
		// The root of the finished block, its complete prefix, becomes the complete suffix.
		t.prefix, t.suffix = t.suffix, t.prefix
	}
	carried := bits.TrailingZeros64(p) // prefix [1, p]: the nodes of lower levels merge into one of this level
	for level := range carried {
		t.retire(t.prefix, level)
	}
	split := 0 // suffix [p+1, W]: the node that starts at p gives way to its descendants that start after p
	if block > 0 {
		split = len(t.slots) - 1
		if p > 1 {
			split = bits.TrailingZeros64(p - 1)
		}
		t.retire(t.suffix, split)
	}
	t.activate(t.prefix, noise.NodeID{Block: block, Level: uint8(carried), Index: p>>carried - 1}, chain)
	for level := range split {
		t.activate(t.suffix, noise.NodeID{Block: block - 1, Level: uint8(level), Index: (p-1)>>level + 1}, chain)
	}
}

// retire subtracts a node's noise from the sum and erases its seed.
func (t *Tree) retire(side []int, level int) {
	slot := side[level]
	if slot == none {
		panic(fmt.Sprintf("BUG: windowtree: no node to retire at level %d", level))
	}
	for i, x := range t.slots[slot].values {
		t.noise[i] = t.noise[i].SubInt64(x)
	}
	t.slots[slot].id, t.slots[slot].seed = noise.NodeID{}, noise.Seed{}
	clear(t.slots[slot].values)
	side[level] = none
	t.free = append(t.free, slot)
}

// activate draws a node's noise, keyed by the current chain, and adds it to the sum.
func (t *Tree) activate(side []int, id noise.NodeID, chain *noise.Chain) {
	id.Instance = t.instance
	t.fill(side, id, chain.Seed(id))
}

// fill puts a node in a slot and draws its noise.
func (t *Tree) fill(side []int, id noise.NodeID, seed noise.Seed) {
	last := len(t.free) - 1
	if last < 0 || side[id.Level] != none {
		panic(fmt.Sprintf("BUG: windowtree: no slot for a node of level %d", id.Level))
	}
	slot := t.free[last]
	t.free = t.free[:last]
	side[id.Level] = slot
	x := &t.slots[slot]
	x.id, x.seed = id, seed
	t.sampler.Fill(x.values, seed)
	for i, y := range x.values {
		t.noise[i] = t.noise[i].AddInt64(y)
	}
}

// Steps returns the number of the last step, 0 before the first.
func (t *Tree) Steps() uint64 { return t.steps }
