package convex

import "math"

// followed is a set without a cheap local oracle. Points move towards the results of its linear oracle instead. The two
// sets of matrices are not polytopes (operators/coco/SPEC.md §8). For trees, forests and rankings, the known κ would
// allow almost no movement: it is n·√n for trees, and depends on the smallest difference of place values for rankings.
// For sets of at most k no oracle with a small ρ is known.
type followed interface {
	Set
	Linear() LinearOracle
	settle(x []float64)      // corrects the rounding of a convex combination of points
	check(x []float64) error // checks constraints that are cheap to check
}

// following is a point that moves towards the results of a linear oracle. A move may change all of x for every radius
// r, so only searched steps can learn with it (operators/coco/SPEC.md §6.1). It stores x and no decomposition.
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

// Toward sets x ← (1−α)x + αv for a point v of the set. It is a Move for which v is already known.
func (o *following) Toward(alpha float64, v []float64) {
	for i, x := range o.x {
		o.x[i] = float64((1-alpha)*x) + float64(alpha*v[i])
	}
	o.set.settle(o.x)
}
