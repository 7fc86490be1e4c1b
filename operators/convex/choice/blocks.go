package choice

import (
	"math"

	"oriel/operators/convex/oracle"
)

// localBlocks is the local oracle of a product of Subsets, with coordinates in block order. Within blocks it moves a
// total mass of up to m = √n·r/2 from coordinates of larger cost to those of smaller, starting with the largest gain.
// Any y of the set with |x−y|₂ ≤ r moves a mass of at most |x−y|₁/2 ≤ √n·r/2, and p is the best of all points that move
// at most this mass. It is the best because, within a block, successive pairs of worst and best coordinates gain less
// and less, so that the order over all blocks keeps the order within each. And |x−p|₂ ≤ |x−p|₁ = 2m, hence ρ = √n.
type localBlocks struct {
	oracle.State
	set     Partition
	order   oracle.Descending
	sorted  []int32   // positions of a block in the order of falling cost
	removed []float64 // the mass that each coordinate loses
	added   []float64 // the mass that each coordinate gains
	pairs   []pair    // pairs with positive gain of all blocks; within a block their gains fall
	gains   []float64 // gain of each pair, per unit of mass
	ranked  oracle.Descending
}

// pair is a mass that could move from one coordinate to another.
type pair struct {
	from, to int32
	mass     float64
}

func newLocalBlocks(s Partition) *localBlocks {
	n := s.N
	return &localBlocks{
		State: oracle.NewState(s, s.Check), set: s, order: oracle.NewDescending(n), sorted: make([]int32, 0, n),
		removed: make([]float64, n), added: make([]float64, n),
		pairs: make([]pair, 0, 2*n), gains: make([]float64, 0, 2*n), ranked: oracle.NewDescending(2 * n),
	}
}

func (o *localBlocks) Ratio() float64 { return math.Sqrt(float64(len(o.X))) }

func (o *localBlocks) Move(alpha, r float64, c []float64) {
	o.pairs, o.gains = o.pairs[:0], o.gains[:0]
	o.set.Each(func(at int, b Subsets) { o.pair(b, at, c) })
	clear(o.removed)
	clear(o.added)
	o.choose(math.Sqrt(float64(len(o.X))) * r / 2)
	for i, v := range o.X {
		v -= float64(alpha * o.removed[i])
		v += float64(alpha * o.added[i])
		o.X[i] = max(0, min(o.set.Radius, v))
	}
	o.set.Settle(o.X)
}

// pair appends the profitable pairs of the block that begins at a position.
func (o *localBlocks) pair(block Subsets, at int, c []float64) {
	o.order.Start(c)
	for i := range block.N {
		o.order.Add(at + i)
	}
	o.order.Build()
	o.sorted = o.sorted[:0]
	for i := o.order.Next(); i >= 0; i = o.order.Next() {
		o.sorted = append(o.sorted, int32(i))
	}
	worst, best := 0, block.N-1
	from, to := 0.0, 0.0 // masses of the worst and the best coordinate that earlier pairs use
	for worst < best {
		a, b := o.sorted[worst], o.sorted[best]
		gain := c[a] - c[b]
		if !(gain > 0) {
			return
		}
		some, room := o.X[a]-from, block.Radius-o.X[b]-to
		mass := min(some, room)
		if mass > 0 {
			o.pairs, o.gains = append(o.pairs, pair{a, b, mass}), append(o.gains, gain)
		}
		from, to = from+mass, to+mass
		if mass == some {
			worst, from = worst+1, 0
		}
		if mass == room {
			best, to = best-1, 0
		}
	}
}

// choose fills removed and added with the pairs of largest gain, with a total mass of at most left.
func (o *localBlocks) choose(left float64) {
	o.ranked.All(o.gains)
	for i := o.ranked.Next(); i >= 0 && left > 0; i = o.ranked.Next() {
		p := o.pairs[i]
		mass := min(left, p.mass)
		o.removed[p.from] += mass
		o.added[p.to] += mass
		left -= mass
	}
}
