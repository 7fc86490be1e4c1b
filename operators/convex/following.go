package convex

import "math"

// followed is a set without a cheap local oracle, which is reached by linear oracles alone.
type followed interface {
	Set
	Linear() LinearOracle
	settle(x []float64)               // brings a mix of points back that rounding has moved
	check(at func(int) float64) error // checks constraints that are cheap to check
}

// following is a point that moves towards the answers of a linear oracle. All of it may move, whatever r is, so that
// only a searched step learns from it (operators/coco/SPEC.md §6.1). It keeps x and no decomposition.
type following struct {
	set       followed
	linear    LinearOracle
	x, vertex []float64
}

func newFollowing(s followed) *following {
	o := &following{
		set: s, linear: s.Linear(), x: make([]float64, s.Dimension()), vertex: make([]float64, s.Dimension()),
	}
	s.Start(o.x)
	return o
}

func (o *following) Point() []float64 { return o.x }

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

func (o *following) AppendState(dst []byte) []byte { return appendFloats(dst, o.x) }

func (o *following) StateLen() int { return 8 * len(o.x) }

// Restore accepts only finite coordinates that pass the set's check.
func (o *following) Restore(state []byte) error {
	if len(state) != o.StateLen() {
		return errStateLen
	}
	if err := o.set.check(func(i int) float64 { return floatAt(state, i) }); err != nil {
		return err
	}
	readFloats(o.x, state)
	return nil
}
