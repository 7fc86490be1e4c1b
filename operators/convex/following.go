package convex

import "math"

// followed is a set without a cheap local oracle, which is reached by linear oracles alone. The two sets of matrices
// are not polytopes (operators/coco/SPEC.md §8). For trees, forests and rankings, the known κ would allow almost no
// movement: it is n·√n for trees, and depends on the smallest difference of places for rankings. For sets of at most k
// no oracle with a small ρ is known.
type followed interface {
	Set
	Linear() LinearOracle
	settle(x []float64)      // brings a mix of points back that rounding has moved
	check(x []float64) error // checks constraints that are cheap to check
}

// following is a point that moves towards the answers of a linear oracle. All of it may move, whatever r is, so that
// only a searched step learns from it (operators/coco/SPEC.md §6.1). It keeps x and no decomposition.
type following struct {
	point
	set    followed
	linear LinearOracle
	vertex []float64
}

func newFollowing(s followed) *following {
	return &following{newPoint(s, s.check), s, s.Linear(), make([]float64, s.Dimension())}
}

// Ratio returns +Inf, because p may be anywhere in the set.
func (*following) Ratio() float64 { return math.Inf(1) }

func (o *following) Move(alpha, _ float64, c []float64) {
	o.linear.Minimise(o.vertex, c)
	o.Toward(alpha, o.vertex)
}

// Toward sets x ← (1−α)x + αv for a point v of the set: a Move with v already known.
func (o *following) Toward(alpha float64, v []float64) {
	for i, x := range o.x {
		o.x[i] = float64((1-alpha)*x) + float64(alpha*v[i])
	}
	o.set.settle(o.x)
}
