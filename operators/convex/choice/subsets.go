package choice

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
)

// Subsets is {0 ≤ x ≤ R, Σx = kR}: the convex hull of R times the indicators of k of n items, the base polytope of the
// uniform matroid. Its vertices have R at k coordinates. It is a block of a Partition.
type Subsets struct {
	shape.Shape
	Pick   int
	Radius float64
}

// Uniform returns Subsets. The diameter R·√(2·min(k, n−k)) is the distance of two sets with as little in common as
// possible.
func Uniform(n, pick int, radius float64) Subsets {
	diameter := float64(radius * math.Sqrt(float64(2*min(pick, n-pick))))
	return Subsets{shape.New("subsets", n, diameter, float64(radius*math.Sqrt(float64(pick)))), pick, radius}
}

// Start writes kR/n everywhere.
func (s Subsets) Start(dst []float64) { shape.Fill(dst, s.Total()/float64(s.N)) }

func (s Subsets) Total() float64 { return float64(float64(s.Pick) * s.Radius) }

// capped projects: x_i ← clip(x_i − τ, 0, R), with τ such that the sum is kR (stationarity of the Lagrangian; the sum
// falls in τ). Bisection ends with two values of τ, between which the result is linear. They differ by a few ulp. If an
// ulp of x exceeds R, equal coordinates may lie between them.
type capped struct{ set Subsets }

func (p *capped) Project(dst, x []float64) {
	top, bottom := x[0], x[0]
	for _, v := range x {
		top, bottom = max(top, v), min(bottom, v)
	}
	low, high := bottom-p.set.Radius, top // at τ = low all coordinates are R, at τ = high all are 0
	for high-low > shape.Dust*p.set.Radius {
		middle := float64(low/2) + float64(high/2)
		if middle <= low || middle >= high {
			break
		}
		if p.sum(x, middle) >= p.set.Total() {
			low = middle
		} else {
			high = middle
		}
	}
	more, less := p.sum(x, low), p.sum(x, high)
	share := 1.0 // weight of the projection with τ = low
	if more > less {
		share = max(0, min(1, (p.set.Total()-less)/(more-less)))
	}
	for i, v := range x {
		dst[i] = float64(share*p.clip(v-low)) + float64((1-share)*p.clip(v-high))
	}
	p.set.Settle(dst)
}

func (p *capped) clip(v float64) float64 { return max(0, min(p.set.Radius, v)) }

func (p *capped) sum(x []float64, shift float64) float64 {
	total := 0.0
	for _, v := range x {
		total += p.clip(v - shift)
	}
	return total
}

// Settle corrects the sum to kR, up to a few ulp. It adds a missing amount in proportion to the room below R, and takes
// an excess in proportion to the coordinates. The change of x is as small as the rounding of its sum.
func (s Subsets) Settle(x []float64) {
	for i, v := range x {
		if v < shape.Dust*s.Radius {
			x[i] = 0
		}
	}
	total := shape.Sum(x)
	off, room := s.Total()-total, total
	if off > 0 {
		room = float64(float64(s.N)*s.Radius) - total
	}
	if off == 0 || !(room > 0) {
		return
	}
	share := off / room
	for i, v := range x {
		if off > 0 {
			x[i] = min(v+float64(share*(s.Radius-v)), s.Radius)
		} else {
			x[i] = max(v+float64(share*v), 0)
		}
	}
}

func (s Subsets) Check(x []float64) error { return shape.CheckSum(x, s.Radius, s.Total()) }

// Inner returns the radius about the centre kR/n: the distance of kR/n from 0 or R, whichever is nearer, divided by √(1
// − 1/n).
func (s Subsets) Inner() float64 {
	n := float64(s.N)
	return float64(s.Radius*float64(min(s.Pick, s.N-s.Pick))) / math.Sqrt(float64(n*(n-1)))
}

// AtMost is a product of sets {0 ≤ x ≤ R, Σx ≤ kR}. Such a set is the convex hull of R times the indicators of at most
// k of n items, the independence polytope of a uniform matroid (subsets-at-most) or of a partition matroid
// (partition-at-most). It has an interior.
type AtMost struct {
	shape.Shape
	Bases Partition // the sets with equality Σx = kR, with the same blocks
}

// NewSubsetsAtMost requires 1 ≤ k ≤ n.
func NewSubsetsAtMost(n, pick int, radius float64) (AtMost, error) {
	if pick < 1 || pick > n {
		return AtMost{}, fmt.Errorf("convex: pick %d: not from 1 to %d, the dimension", pick, n)
	}
	return atMost("subsets-at-most", product("subsets", []Subsets{Uniform(n, pick, radius)}, n, radius)), nil
}

// NewPartitionAtMost reads entries in the canonical form of ParseBlock.
func NewPartitionAtMost(blocks []string, n int, radius float64) (AtMost, error) {
	p, err := NewPartition(blocks, n, radius)
	return atMost("partition-at-most", p), err
}

// SettleAtMost computes the diameter of a product of blocks. In a block it is the distance between two sets of k items
// with as little in common as possible, or between such a set and its complement if that is smaller.
func atMost(name string, bases Partition) AtMost {
	differ := 0
	for _, b := range bases.Blocks {
		differ += min(2*b.Pick, b.N)
	}
	return AtMost{shape.New(name, bases.N, float64(bases.Radius*math.Sqrt(float64(differ))), bases.M), bases}
}

// Inner writes the centre of a ball in the set and returns its radius: the least r = min(R/2, kR/(n + √n)) over the
// blocks. The centre has each block's own r as its coordinates.
func (s AtMost) Inner(centre []float64) (float64, error) {
	least := math.Inf(1)
	s.Bases.Each(func(at int, b Subsets) {
		n := float64(b.N)
		r := min(b.Radius/2, b.Total()/(n+math.Sqrt(n)))
		shape.Fill(centre[at:at+b.N], r)
		least = min(least, r)
	})
	return least, nil
}

func (s AtMost) Linear() convex.LinearOracle { return newGreedy(s.Bases, true) }

// Projection returns a projection that clips each coordinate. If the sum of a block is still above kR, it also shifts
// the block until the sum is kR.
func (s AtMost) Projection() convex.Projection { return cappedAtMost{s} }

type cappedAtMost struct{ set AtMost }

func (p cappedAtMost) Project(dst, x []float64) {
	p.set.Bases.Each(func(at int, b Subsets) {
		c, from, to := capped{b}, x[at:at+b.N], dst[at:at+b.N]
		if c.sum(from, 0) > b.Total() { // the multiplier of Σx ≤ kR is positive, so Σx = kR at the nearest point
			c.Project(to, from)
			return
		}
		for i, v := range from {
			to[i] = c.clip(v)
		}
	})
}

// Settle corrects the rounding of a convex combination of points, first in coordinates and then in sums.
func (s AtMost) Settle(x []float64) {
	s.Bases.Each(func(at int, b Subsets) { b.SettleAtMost(x[at : at+b.N]) })
}

// SettleAtMost clips coordinates to [0, R] and reduces a sum above kR to kR, up to a few ulp.
func (s Subsets) SettleAtMost(x []float64) {
	for i, v := range x {
		x[i] = min(v, s.Radius)
		if v < shape.Dust*s.Radius {
			x[i] = 0
		}
	}
	if shape.Sum(x) > s.Total() {
		s.Settle(x)
	}
}

// CheckAtMost checks that coordinates are in [0, R] and their sum is at most kR.
func (s Subsets) CheckAtMost(x []float64) error {
	if err := shape.CheckRange(x, s.Radius); err != nil {
		return err
	}
	if !(shape.Sum(x) <= float64(s.Total()*(1+shape.SumTolerance))) {
		return errors.New("convex: state: coordinates whose sum is too large")
	}
	return nil
}

func (s AtMost) Check(x []float64) error {
	var err error
	s.Bases.Each(func(at int, b Subsets) { err = errors.Join(err, b.CheckAtMost(x[at:at+b.N])) })
	return err
}

func (s AtMost) LocalOracle() convex.LocalOracle { return oracle.Follow(s) }
