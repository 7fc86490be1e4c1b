package coco

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/mechanisms/lattice"
	"oriel/operators/convex"
)

// projected is Algorithm 1, line 3. It computes x_{t+1} = Π_C((µB·S − ĝ_t)/(µBt + λ_0)), the exact minimiser of Ĵ_t
// over C.
type projected struct {
	objective  *objective
	projection convex.Projection
	limit      float64 // largest norm that a restored x may have
	x          []float64
}

func newProjected(c Config, o *objective) (*projected, error) {
	p, err := convex.NewProjection(c.Set)
	if err != nil {
		return nil, err
	}
	u := &projected{
		objective: o, projection: p, limit: float64(c.Set.MaxNorm() * (1 + 1e-9)),
		x: make([]float64, c.Set.Dimension()),
	}
	c.Set.Start(u.x)
	return u, nil
}

func (u *projected) point() []float64 { return u.x }

func (u *projected) begin(x []float64) { copy(u.x, x) }

func (u *projected) step(t uint64, sum []float64) {
	u.objective.pull(t, u.x, sum)
	curvature := u.objective.curvature(t)
	for i := range u.x {
		u.x[i] /= curvature
	}
	u.projection.Project(u.x, u.x)
}

func (u *projected) AppendState(dst []byte) []byte { return appendFloats(dst, u.x) }

func (u *projected) StateLen() int { return 8 * len(u.x) }

func (u *projected) Restore(state []byte) error {
	x := make([]float64, len(u.x))
	readFloats(x, state)
	if !(lattice.Norm(x) <= u.limit) {
		return errors.New("coco: state: decision outside the set")
	}
	copy(u.x, x)
	return nil
}

func appendFloats(dst []byte, v []float64) []byte {
	for _, f := range v {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

func readFloats(dst []float64, state []byte) {
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:]))
	}
}

// descent is online gradient descent on the private gradient of each step (SPEC.md, care point 3; Hazan, Agarwal and
// Kale 2007, Theorem 1, for steps of 1/(µt)). With y_t the release of the gradient sum of step t,
//
//	x_{t+1} = Π_C( x_t − (y_t + µB·x_t)/(µBt + λ_0) )
//
// where µB·x_t is the gradient of the public regulariser, absent under OwnConvexity. Past gradients act through x_t, so
// descent needs no prefix sum, and it averages the noise of its steps itself.
type descent struct {
	*projected
	regularizer float64 // µB, or 0 under OwnConvexity
}

func newDescent(c Config, o *objective) (*descent, error) {
	p, err := newProjected(c, o)
	if err != nil {
		return nil, err
	}
	u := &descent{projected: p, regularizer: o.convexity}
	if c.OwnConvexity {
		u.regularizer = 0
	}
	return u, nil
}

func (u *descent) step(t uint64, released []float64) {
	curvature := u.objective.curvature(t)
	for i, y := range released {
		u.x[i] -= (y + float64(u.regularizer*u.x[i])) / curvature
	}
	u.projection.Project(u.x, u.x)
}
