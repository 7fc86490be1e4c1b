package convex

import (
	"errors"
	"math"
)

// localBlocks is the local oracle of a product of Subsets, with coordinates in block order. Within blocks it moves a
// total mass of up to m = √n·r/2 from coordinates of larger cost to those of smaller, starting with the largest gain.
// Any y of the set with |x−y|₂ ≤ r moves at most |x−y|₁/2 ≤ √n·r/2, and p is the best of all that move no more. This
// holds because, within a block, successive pairs of worst and best coordinates gain less and less, so that the order
// over all blocks keeps the order within each. And |x−p|₂ ≤ |x−p|₁ = 2m, hence ρ = √n.
type localBlocks struct {
	blocks []Subsets
	x      []float64
	order  descending
	sorted []int32   // positions of a block by falling cost
	gone   []float64 // the mass that a coordinate gives; before that, the mass that pairs could take of it
	come   []float64 // the mass that it gets
	pairs  []pair    // pairs of all blocks, each block's by falling gain
	gains  []float64 // gains of pairs
	ranked descending
}

// pair is a mass that could move from one coordinate to another.
type pair struct {
	from, to int32
	mass     float64
}

func newLocalBlocks(s Set, blocks []Subsets) *localBlocks {
	n := s.Dimension()
	o := &localBlocks{
		blocks: blocks, x: make([]float64, n), order: newDescending(n), sorted: make([]int32, 0, n),
		gone: make([]float64, n), come: make([]float64, n),
		pairs: make([]pair, 0, 2*n), gains: make([]float64, 0, 2*n), ranked: newDescending(2 * n),
	}
	s.Start(o.x)
	return o
}

func (o *localBlocks) Point() []float64 { return o.x }

func (o *localBlocks) Ratio() float64 { return math.Sqrt(float64(len(o.x))) }

func (o *localBlocks) Move(alpha, r float64, c []float64) {
	o.pairs, o.gains = o.pairs[:0], o.gains[:0]
	at := 0
	for _, b := range o.blocks {
		o.pair(b, at, c)
		at += b.n
	}
	clear(o.gone)
	clear(o.come)
	o.choose(math.Sqrt(float64(len(o.x))) * r / 2)
	at = 0
	for _, b := range o.blocks {
		x := o.x[at : at+b.n]
		for i, v := range x {
			v -= float64(alpha * o.gone[at+i])
			v += float64(alpha * o.come[at+i])
			x[i] = max(0, min(b.radius, v))
		}
		b.settle(x)
		at += b.n
	}
}

// pair appends the profitable pairs of the block that begins at a position.
func (o *localBlocks) pair(block Subsets, at int, c []float64) {
	o.order.start(c)
	for i := range block.n {
		o.order.add(at + i)
	}
	o.order.build()
	o.sorted = o.sorted[:0]
	for i := o.order.next(); i >= 0; i = o.order.next() {
		o.sorted = append(o.sorted, int32(i))
	}
	worst, best := 0, block.n-1
	from, to := 0.0, 0.0 // paired already of the worst and the best
	for worst < best {
		a, b := o.sorted[worst], o.sorted[best]
		gain := c[a] - c[b]
		if !(gain > 0) {
			return
		}
		some, room := o.x[a]-from, block.radius-o.x[b]-to
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

// choose fills gone and come with the pairs of largest gain, with a total mass of at most left.
func (o *localBlocks) choose(left float64) {
	o.ranked.start(o.gains)
	for i := range o.gains {
		o.ranked.add(i)
	}
	o.ranked.build()
	for i := o.ranked.next(); i >= 0 && left > 0; i = o.ranked.next() {
		p := o.pairs[i]
		mass := min(left, p.mass)
		o.gone[p.from] += mass
		o.come[p.to] += mass
		left -= mass
	}
}

func (o *localBlocks) AppendState(dst []byte) []byte { return appendFloats(dst, o.x) }

func (o *localBlocks) StateLen() int { return 8 * len(o.x) }

// Restore accepts only a point of the set.
func (o *localBlocks) Restore(state []byte) error {
	if len(state) != o.StateLen() {
		return errStateLen
	}
	at := 0
	for _, b := range o.blocks {
		total := 0.0
		for range b.n {
			v := floatAt(state, at)
			if !(v >= 0 && v <= b.radius) {
				return errors.New("convex: state: coordinate out of range")
			}
			total, at = total+v, at+1
		}
		if want := b.total(); !(math.Abs(total-want) <= sumTolerance*want) {
			return errors.New("convex: state: coordinates have another sum")
		}
	}
	readFloats(o.x, state)
	return nil
}
