package convex

import (
	"errors"
	"fmt"
	"math"
)

// AtMost is a product of sets {0 ≤ x ≤ R, Σx ≤ kR}. Such a set is the convex hull of R times the indicators of at most
// k of n items, the independence polytope of a uniform matroid (subsets-at-most) or of a partition matroid
// (partition-at-most). It has an interior.
type AtMost struct {
	shape
	bases Partition // the sets with equality Σx = kR, with the same blocks
}

// newSubsetsAtMost requires 1 ≤ k ≤ n.
func newSubsetsAtMost(n, pick int, radius float64) (AtMost, error) {
	if pick < 1 || pick > n {
		return AtMost{}, fmt.Errorf("convex: pick %d: not from 1 to %d, the dimension", pick, n)
	}
	return atMost("subsets-at-most", product("subsets", []Subsets{subsets(n, pick, radius)}, n, radius)), nil
}

// newPartitionAtMost reads entries in the canonical form of ParseBlock.
func newPartitionAtMost(blocks []string, n int, radius float64) (AtMost, error) {
	p, err := newPartition(blocks, n, radius)
	return atMost("partition-at-most", p), err
}

// atMost computes the diameter of a product of blocks. In a block it is the distance between two sets of k items with
// as little in common as possible, or between such a set and its complement if that is smaller.
func atMost(name string, bases Partition) AtMost {
	differ := 0
	for _, b := range bases.blocks {
		differ += min(2*b.pick, b.n)
	}
	return AtMost{shape{name, bases.n, float64(bases.radius * math.Sqrt(float64(differ))), bases.maxNorm}, bases}
}

// inner writes the centre of a ball in the set and returns its radius: the least r = min(R/2, kR/(n + √n)) over the
// blocks. The centre has each block's own r as its coordinates.
func (s AtMost) inner(centre []float64) float64 {
	least := math.Inf(1)
	s.bases.each(func(at int, b Subsets) {
		n := float64(b.n)
		r := min(b.radius/2, b.total()/(n+math.Sqrt(n)))
		fill(centre[at:at+b.n], r)
		least = min(least, r)
	})
	return least
}

func (s AtMost) Linear() LinearOracle { return newGreedy(s.bases, true) }

// Projection returns a projection that clips each coordinate. If the sum of a block is still above kR, it also shifts
// the block until the sum is kR.
func (s AtMost) Projection() Projection { return cappedAtMost{s} }

type cappedAtMost struct{ set AtMost }

func (p cappedAtMost) Project(dst, x []float64) {
	p.set.bases.each(func(at int, b Subsets) {
		c, from, to := capped{b}, x[at:at+b.n], dst[at:at+b.n]
		if c.sum(from, 0) > b.total() { // the multiplier of Σx ≤ kR is positive, so Σx = kR at the nearest point
			c.Project(to, from)
			return
		}
		for i, v := range from {
			to[i] = c.clip(v)
		}
	})
}

// settle corrects the rounding of a convex combination of points, first in coordinates and then in sums.
func (s AtMost) settle(x []float64) {
	s.bases.each(func(at int, b Subsets) { b.atMost(x[at : at+b.n]) })
}

// atMost clips coordinates to [0, R] and reduces a sum above kR to kR, up to a few ulp.
func (s Subsets) atMost(x []float64) {
	for i, v := range x {
		x[i] = min(v, s.radius)
		if v < dust*s.radius {
			x[i] = 0
		}
	}
	if sum(x) > s.total() {
		s.settle(x)
	}
}

// checkAtMost checks that coordinates are in [0, R] and their sum is at most kR.
func (s Subsets) checkAtMost(x []float64) error {
	if err := checkRange(x, s.radius); err != nil {
		return err
	}
	if !(sum(x) <= float64(s.total()*(1+sumTolerance))) {
		return errors.New("convex: state: coordinates whose sum is too large")
	}
	return nil
}

func (s AtMost) check(x []float64) error {
	var err error
	s.bases.each(func(at int, b Subsets) { err = errors.Join(err, b.checkAtMost(x[at:at+b.n])) })
	return err
}
