package oracle

import (
	"math"

	"oriel/operators/convex"
)

// Followed is a set without a cheap local oracle. Points move towards the results of its linear oracle instead. The two
// sets of matrices are not polytopes (operators/coco/SPEC.md §8). For trees, forests and rankings, the known κ would
// allow almost no movement: it is n·√n for trees, and depends on the smallest difference of place values for rankings.
// For sets of at most k no oracle with a small ρ is known.
type Followed interface {
	convex.Set
	Linear() convex.LinearOracle
	Settle(x []float64)      // corrects the rounding of a convex combination of points
	Check(x []float64) error // checks constraints that are cheap to check
}

// following is a point that moves towards the results of a linear oracle. A move may change all of x for every radius
// r, so only searched steps can learn with it (operators/coco/SPEC.md §6.1). It stores x and no decomposition.
type following struct {
	State
	set    Followed
	linear convex.LinearOracle
	vertex []float64
}

// Follow returns an oracle that moves towards linear minimisers.
func Follow(s Followed) convex.Toward {
	return &following{NewState(s, s.Check), s, s.Linear(), make([]float64, s.Dimension())}
}

// Ratio returns +Inf, because p may be anywhere in the set.
func (*following) Ratio() float64 { return math.Inf(1) }

func (o *following) Move(alpha, _ float64, c []float64) {
	o.linear.Minimise(o.vertex, c)
	o.Toward(alpha, o.vertex)
}

// Toward sets x ← (1−α)x + αv for a point v of the set. It is a Move for which v is already known.
func (o *following) Toward(alpha float64, v []float64) {
	for i, x := range o.X {
		o.X[i] = float64((1-alpha)*x) + float64(alpha*v[i])
	}
	o.set.Settle(o.X)
}

// Descending yields the positions of keys from the largest key to the smallest, and in ascending order among equal
// keys. It is a heap: taking the first few positions costs O(n), and taking all of them O(n log n). The order is total,
// so it does not depend on the structure of the heap.
type Descending struct {
	keys []float64
	heap []int32
}

func NewDescending(n int) Descending { return Descending{heap: make([]int32, 0, n)} }

// Start removes earlier positions. add and next read keys, which must not change between them.
func (d *Descending) Start(keys []float64) {
	d.keys = keys
	d.heap = d.heap[:0]
}

// Add adds position i. build must follow the last add.
func (d *Descending) Add(i int) { d.heap = append(d.heap, int32(i)) }

func (d *Descending) Build() {
	for i := len(d.heap)/2 - 1; i >= 0; i-- {
		d.sink(i)
	}
}

// All starts with all positions of keys.
func (d *Descending) All(keys []float64) {
	d.Start(keys)
	for i := range keys {
		d.Add(i)
	}
	d.Build()
}

// Cheapest starts with all positions of costs, so that next yields the smallest cost first. keys is scratch space of
// the same length.
func (d *Descending) Cheapest(keys, costs []float64) {
	for i, cost := range costs {
		keys[i] = -cost
	}
	d.All(keys)
}

// Next removes and returns the first position, or −1 if none is left.
func (d *Descending) Next() int {
	if len(d.heap) == 0 {
		return -1
	}
	first := d.heap[0]
	last := len(d.heap) - 1
	d.heap[0] = d.heap[last]
	d.heap = d.heap[:last]
	d.sink(0)
	return int(first)
}

func (d *Descending) before(a, b int32) bool {
	return d.keys[a] > d.keys[b] || d.keys[a] == d.keys[b] && a < b
}

func (d *Descending) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(d.heap) {
			return
		}
		if child+1 < len(d.heap) && d.before(d.heap[child+1], d.heap[child]) {
			child++
		}
		if !d.before(d.heap[child], d.heap[i]) {
			return
		}
		d.heap[i], d.heap[child] = d.heap[child], d.heap[i]
		i = child
	}
}
